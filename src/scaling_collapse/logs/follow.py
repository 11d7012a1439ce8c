"""A growing log: bytes as they come, losses out, with what a restart takes back."""

from __future__ import annotations

from typing import NamedTuple

from scaling_collapse.logs.choose import base_of, choose
from scaling_collapse.logs.curves import numbered
from scaling_collapse.logs.names import PART, plainness
from scaling_collapse.logs.notes import Note
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.parser import Parser, Row, Rows
from scaling_collapse.logs.race import Race
from scaling_collapse.logs.tracker import Event, Tracker


class Update(NamedTuple):
    """One loss of a growing log, as it stands there: NaN, infinities and step 0 are passed on.

    `event` RESTART: losses of `run` beyond step `start` no longer hold, except for its last `stretch` updates (this
    one included), which are of what begins there. NEW_RUN: these last updates are the first ones of another run; its
    name, "run (2)" and so on, is in `run`. Of a step that comes twice the later loss counts.
    """

    run: str
    split: str
    step: int
    loss: float
    lr: float
    tokens: float
    event: Event
    start: int
    stretch: int


class Follower:
    """Reads a log of any format of text, a TensorBoard or a W&B offline file, in pieces of any size.

    The format is recognised as in read_logs. A column becomes the training or the validation loss when it is first
    seen and the plainest of those seen so far; it stays that.
    """

    def __init__(self, options: Options | None = None, run: str = "run") -> None:
        self._options = Options() if options is None else options
        self._name = self._options.run or run
        self._race = Race(self._options, run)
        self._counts: dict[str, int] = {}
        self._splits: dict[str, str] = {}
        self._trackers: dict[str, Tracker] = {}
        self._numbers: dict[str, int] = {}

    def feed(self, data: bytes) -> list[Update]:
        """Return the losses in the lines (or records) that `data` completes."""
        return self._updates(self._race.feed(data))

    def end(self) -> list[Update]:
        """Return the losses in what was held back: an unfinished last line. Nothing may be fed after it."""
        return [update for rows in self._race.end() for update in self._updates(rows)]

    def new_file(self) -> None:
        """Go on with another file of the same log (rotation): an unfinished line is given up."""
        self._race.new_file()

    @property
    def parser(self) -> Parser | None:
        """The parser of the recognised format, with facts and guesses; None as long as no loss was seen."""
        return self._race.winner

    @property
    def hopeless(self) -> bool:
        """Whether so much was read without a loss that none is expected."""
        return self._race.hopeless

    @property
    def columns(self) -> dict[str, str]:
        """Which columns are read as which split."""
        return {base_of(column): split for column, split in self._splits.items()}

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was dropped so far."""
        return tuple(note for notes in self._race.notes for note in notes)

    def _updates(self, rows: Rows) -> list[Update]:
        new = False
        for row in rows:
            new = new or row[1] not in self._counts
            self._counts[row[1]] = self._counts.get(row[1], 0) + 1
        if new:
            self._choose()
        return [self._update(row) for row in rows if row[1] in self._splits]

    def _choose(self) -> None:
        """Give new columns their splits; a split that is taken stays with its column.

        A part of a loss or a regulariser may come before the loss itself, so it is taken only if it is named.
        """
        named = self._options.named
        counts = {c: n for c, n in self._counts.items() if base_of(c) in named or plainness(base_of(c)) < PART}
        for column, split in choose(counts, self._options).items():
            if split not in self._splits.values():
                self._splits[column] = split

    def _update(self, row: Row) -> Update:
        name, column, step, loss, lr, tokens = row
        named = bool(name)
        run = self._options.run or name or (self.parser.run if self.parser else "") or self._name
        tracker = self._trackers.get(run)
        if tracker is None:
            tracker = self._trackers[run] = Tracker(one_run=named or self._options.run is not None)
        split = self._splits[column]
        event = tracker.see(split, step)
        if event is Event.NEW_RUN:
            self._numbers[run] = self._numbers.get(run, 1) + 1
        number = self._numbers.get(run, 1)
        shown = numbered(run, number)
        if self._options.tokens_per_step is not None:
            tokens = step * self._options.tokens_per_step
        return Update(shown, split, step, loss, lr, tokens, event, tracker.start, tracker.stretch)
