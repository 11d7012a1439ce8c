"""Made-up logs as the tools print them, with what stands in them.

Every sample follows the print statement that is named beside it; all numbers are ours.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

Points = list[tuple[int, float]]


@dataclass(frozen=True)
class Sample:
    """A log, its format, and the (step, loss) of each split that must come out."""

    format: str
    text: str
    train: Points = field(default_factory=list)
    validation: Points = field(default_factory=list)


def losses(steps: list[int], start: float = 10.0, digits: int = 4) -> Points:
    """Return losses that fall with the step and differ at each step."""
    return [(step, round(start / (1 + 0.1 * step) ** 0.3 + 0.001 * (step % 7), digits)) for step in steps]


TRAIN = losses(list(range(1, 41)))
VALIDATION = losses([10, 20, 30, 40], start=10.2)
EVERY = dict(VALIDATION)


def nanogpt() -> Sample:
    """karpathy/nanoGPT, train.py: the two prints of the training loop, and `tokens per iteration will be`."""
    lines = ["tokens per iteration will be: 491,520", "found vocab_size = 65 (inside data/x/meta.pkl)"]
    for step, loss in [(0, 10.9), *TRAIN]:
        if step % 10 == 0:
            lines.append(f"step {step}: train loss {loss + 0.01:.4f}, val loss {EVERY.get(step, 10.95):.4f}")
            lines.append("saving checkpoint to out")
        lines.append(f"iter {step}: loss {loss:.4f}, time {211.5 + step:.2f}ms, mfu {31.25:.2f}%")
    return Sample("nanogpt", "\n".join(lines) + "\n", TRAIN, VALIDATION)


def llmc_log() -> Sample:
    """karpathy/llm.c, llmc/logger.h: logger_log_val and logger_log_train."""
    lines = []
    for step, loss in TRAIN:
        if step in EVERY:
            lines.append(f"s:{step} tel:{EVERY[step]:.4f}")
            lines.append(f"s:{step} eval:0.2712")
        lines.append(f"s:{step} trl:{loss:.4f} lr:{0.0001 * step:.6f} norm:{1.5:.2f}")
    return Sample("llmc", "\n".join(lines) + "\n", TRAIN, VALIDATION)


def llmc_console() -> Sample:
    """karpathy/llm.c, train_gpt2.cu: printf0 of the training loop; `val loss` has no step and follows its update."""
    lines = ["| device                | H100 |", "val loss 11.009"]
    for step, loss in TRAIN:
        lines.append(
            f"step {step:4d}/40 | loss {loss:7.6f} (+nanz)| norm {1.25:6.4f} (+nanz)| lr {3e-4:.2e} | 2391.52 ms | "
            "45.2% bf16 MFU | 191824 tok/s"
        )
        if step in EVERY:
            lines.append(f"val loss {EVERY[step]:.6f}")
    return Sample("llmc", "\n".join(lines) + "\n", TRAIN, VALIDATION)


def modded_nanogpt(train: bool = True) -> Sample:
    """KellerJordan/modded-nanogpt, train_gpt.py: print0 of both sections; newer versions print no training loss.

    The log begins with the source of the script itself.
    """
    lines = [
        "import os",
        "with open(logfile) as f: print0(f'step:{step}/{args.num_iterations} val_loss:{val_loss:.4f}')",
    ]
    lines += ["=" * 100, "Running Python 3.12.1", "step:0/40 val_loss:10.8258 train_time:0ms step_avg:nanms"]
    for step, loss in TRAIN:
        timing = f"train_time:{158 * step:.0f}ms step_avg:{158.0:.2f}ms"
        lines.append(f"step:{step}/40 train_loss:{loss:.4f} {timing}" if train else f"step:{step}/40 {timing}")
        if step in EVERY:
            lines.append(f"step:{step}/40 val_loss:{EVERY[step]:.4f} {timing}")
    lines.append("peak memory allocated: 31000 MiB reserved: 31500 MiB")
    return Sample("modded_nanogpt", "\n".join(lines) + "\n", TRAIN if train else [], VALIDATION)


def megatron() -> Sample:
    """NVIDIA/Megatron-LM, megatron/training/training.py: training_log, evaluate_and_print_results, print_args."""
    lines = ["------------------------ arguments ------------------------"]
    for name, value in (("lr", 0.0003), ("seed", 1234), ("seq_length", 2048), ("weight_decay", 0.1)):
        lines.append(f"  {name} {'.' * (48 - len(name))} {value}")
    lines.append("-------------------- end of arguments ---------------------")
    for step, loss in TRAIN:
        lines.append(
            f" [2025-01-01 10:00:00] iteration {step:8d}/{40:8d} | consumed samples: {256 * step:12d} |"
            f" elapsed time per iteration (ms): 900.1 | learning rate: {1e-5 * step:.6E} | global batch size:   256 |"
            f" lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 1.024 | number of skipped iterations:   0 |"
            " number of nan iterations:   0 |"
        )
        if step in EVERY:
            rule = "-" * 80
            value = f"lm loss value: {EVERY[step]:.6E} | lm loss PPL: 1.465000E+01 | "
            lines += [rule, f" validation loss at iteration {step} | {value}", rule]
    return Sample("megatron", "\n".join(lines) + "\n", TRAIN, VALIDATION)


def megatron_deepspeed() -> Sample:
    """microsoft/Megatron-DeepSpeed, megatron/training.py: training_log adds `consumed tokens`; ranks stand before."""
    lines = []
    for step, loss in TRAIN:
        lines.append(
            f"[default7]: iteration {step:8d}/{40:8d} | consumed samples: {32 * step:12d} | consumed tokens:"
            f" {65536 * step:12d} | elapsed time per iteration (ms): 25849.1 | learning rate: {3e-4:.3E} |"
            f" global batch size:    32 | lm loss: {loss:.6E} | loss scale: 1.0 | actual seqlen:  2048 |"
            " number of skipped iterations:   0 | number of nan iterations:   0 | samples per second: 3.714 |"
        )
        lines.append("time (ms)")
    return Sample("megatron", "\n".join(lines) + "\n", TRAIN)


def neox() -> Sample:
    """EleutherAI/gpt-neox, megatron/logging.py: training_log begins with samples/sec and has `lm_loss`."""
    lines = [
        f" samples/sec: 51.200 | iteration {step:8d}/{40:8d} | elapsed time per iteration (ms): 5000.0 |"
        f" learning rate: {2e-4:.3E} | approx flops per GPU: 150.3TFLOPS | lm_loss: {loss:.6E} |"
        " number of skipped iterations:   0 | number of nan iterations:   0 |"
        for step, loss in TRAIN
    ]
    return Sample("megatron", "\n".join(lines) + "\n", TRAIN)


def deepspeed() -> Sample:
    """deepspeed/runtime/pipe/engine.py, train_batch; the rate is from runtime/engine.py, _report_progress."""
    lines = []
    for step, loss in TRAIN:
        stamp = "[2025-01-01 10:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0]"
        lines.append(
            f"{stamp} step={step}, skipped=0, lr=[{1e-5 * step}, {1e-5 * step}], mom=[(0.9, 0.95), (0.9, 0.95)]"
        )
        lines.append(f"steps: {step} loss: {loss:0.4f} iter time (s): 1.250 samples/sec: 25.600")
    return Sample("deepspeed", "\n".join(lines) + "\n", TRAIN)


def torchtitan() -> Sample:
    """pytorch/torchtitan, torchtitan/components/metrics.py: log and log_validation, with ANSI colours."""
    red, green, reset = "\x1b[31m", "\x1b[32m", "\x1b[39m"
    lines = ["[rank0]:[titan] 2025-01-01 10:00:00,000 - root - INFO - Training starts at step 1"]
    for step, loss in TRAIN:
        stamp = f"[rank0]:[titan] 2025-01-01 10:00:{step:02},123 - root - INFO -"
        rest = f"\x1b[38;2;180;60;0mgrad_norm:  1.5870  \x1b[34mtps: 51,534  mfu: 10.05%{reset}"
        lines.append(f"{stamp} {red}step: {step:2}  {green}loss: {loss:7.4f}  {rest}")
        if step in EVERY:
            memory = f"memory: 47.71GiB(34.12%)  tps: 51,000{reset}"
            lines.append(f"{stamp} \x1b[33mvalidate step: {step:2}  {green}loss: {EVERY[step]:7.4f}  {memory}")
    return Sample("torchtitan", "\n".join(lines) + "\n", TRAIN, VALIDATION)


def litgpt(accumulation: int = 4) -> Sample:
    """Lightning-AI/litgpt, litgpt/pretrain.py, fit: the print of a log interval and that of a validation."""
    lines = ["Seed set to 42", "Time to instantiate model: 0.03 seconds.", "Validating ..."]
    for step, loss in TRAIN:
        iteration = step * accumulation
        lines.append(
            f"Epoch 1 | iter {iteration} step {step} | loss train: {loss:.3f}, val: n/a |"
            " iter time: 303.61 ms (step) remaining time: 0:02:10"
        )
        if step in EVERY:
            lines.append(f"iter {iteration}: val loss {EVERY[step]:.4f}, val time: 1234.56 ms")
    return Sample("litgpt", "\n".join(lines) + "\n", [(step, round(loss, 3)) for step, loss in TRAIN], VALIDATION)


def lightning_csv() -> Sample:
    """Lightning, CSVLogger: metrics.csv has a column for each metric ever logged, so its rows are ragged."""
    lines = ["epoch,lr-AdamW,step,train_loss,val_loss"]
    for step, loss in TRAIN:
        lines.append(f"0,{1e-4 * step},{step},,")
        lines.append(f"0,,{step},{loss},")
        if step in EVERY:
            lines.append(f"0,,{step},,{EVERY[step]}")
    return Sample("csv", "\n".join(lines) + "\n", TRAIN, VALIDATION)


def jsonl() -> Sample:
    """Custom loggers, and the rows of wandb's run.scan_history(): an object a line, keys that come and go."""
    lines = [json.dumps({"config": {"lr": 3e-4}})]
    for step, loss in TRAIN:
        lines.append(json.dumps({"_step": step, "train/loss": loss, "train/grad_norm": 1.0, "_runtime": 2.5 * step}))
        if step in EVERY:
            lines.append(json.dumps({"_step": step, "val/loss": EVERY[step]}))
    return Sample("jsonl", "\n".join(lines) + "\n", TRAIN, VALIDATION)


def trainer_state() -> Sample:
    """huggingface/transformers, trainer_callback.py: TrainerState.save_to_json, json.dumps with indent 2."""
    history = []
    for step, loss in TRAIN:
        history.append({"epoch": step / 40, "grad_norm": 1.0, "learning_rate": 1e-4, "loss": loss, "step": step})
        if step in EVERY:
            history.append({"epoch": step / 40, "eval_loss": EVERY[step], "eval_runtime": 3.2, "step": step})
    history.append({"epoch": 1.0, "step": 40, "total_flos": 1e18, "train_loss": 5.55, "train_runtime": 77.0})
    state = {"best_metric": None, "epoch": 1.0, "global_step": 40, "log_history": history, "max_steps": 40}
    return Sample("trainer_state", json.dumps(state, indent=2, sort_keys=True) + "\n", TRAIN, VALIDATION)


def plain() -> Sample:
    """No tool: the last resort."""
    lines = []
    for step, loss in TRAIN:
        lines.append(f"[12:00:{step:02}] Step {step}, loss = {loss}, took 0.5 s")
        if step in EVERY:
            lines.append(f"[12:00:{step:02}] Step {step}, val loss = {EVERY[step]}")
    return Sample("plain", "\n".join(lines) + "\n", TRAIN, VALIDATION)


SAMPLES = {
    maker.__name__: maker()
    for maker in (
        nanogpt,
        llmc_log,
        llmc_console,
        modded_nanogpt,
        megatron,
        megatron_deepspeed,
        neox,
        deepspeed,
        torchtitan,
        litgpt,
        lightning_csv,
        jsonl,
        trainer_state,
        plain,
    )
}
