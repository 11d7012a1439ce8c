"""What a result's meaning is made of: settings, code, packages and inputs. Knows neither Snakemake nor DVC."""
