"""Reads the event files of a run with TensorBoard's own reader.

    read_events.py RUN/tensorboard      prints {"tag": [[step, value], ...], ...} as JSON
"""
import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

accumulator = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
accumulator.Reload()
scalars = {tag: [[event.step, event.value] for event in accumulator.Scalars(tag)]
           for tag in accumulator.Tags()["scalars"]}
print(json.dumps(scalars))
