#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a profile in pprof's format by its published field numbers alone, checks what readers rely on, prints JSON.

pprof.py FILE: types, default, samples (stack from the outermost frame), comments, time and duration. Exit status 1 and
one line per problem where the profile is wrong."""
import gzip
import json
import sys


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
            if len(value) != n:
                raise ValueError('cut short')
        else:
            raise ValueError(f'wire type {tag & 7}')
        yield tag >> 3, value


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & (1 << 64) - 1, at


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def numbers(value):
    """Of a repeated field, packed or not."""
    if isinstance(value, int):
        return [value]
    out, at = [], 0
    while at < len(value):
        v, at = varint(value, at)
        out.append(v)
    return out


def message(data):
    out = {}
    for field, value in fields(data):
        out.setdefault(field, []).append(value)
    return out


def one(m, field, default=0):
    return m.get(field, [default])[-1]


def main():
    with gzip.open(sys.argv[1]) as f:
        top = message(f.read())
    bad = []
    texts = [t.decode() for t in top.get(6, [])]
    if texts[:1] != ['']:
        bad.append('the first text is not ""')

    def text(index):
        if index >= len(texts):
            bad.append(f'no text {index}')
            return '?'
        return texts[index]

    def table(field, what):
        out = {}
        for entry in map(message, top.get(field, [])):
            number = one(entry, 1)
            if not number or number in out:
                bad.append(f'{what} {number}: 0 or there twice')
            out[number] = entry
        return out

    mappings, locations, functions = table(3, 'mapping'), table(4, 'location'), table(5, 'function')
    for number, l in locations.items():
        if one(l, 2) not in mappings:
            bad.append(f'location {number}: no mapping {one(l, 2)}')
        if not l.get(4):
            bad.append(f'location {number} has no line')
    types = [(text(one(t, 1)), text(one(t, 2))) for t in map(message, top.get(1, []))]
    samples = []
    for s in map(message, top.get(2, [])):
        values = [signed(v) for part in s.get(2, []) for v in numbers(part)]
        if len(values) != len(types):
            bad.append(f'{len(values)} values for {len(types)} types')
        stack = []
        for number in (v for part in s.get(1, []) for v in numbers(part)):
            for line in map(message, locations.get(number, {}).get(4, [b''])):
                function = functions.get(one(line, 1))
                if function is None:
                    bad.append(f'location {number}: no function {one(line, 1)}')
                else:
                    stack.insert(0, text(one(function, 2)))
        labels = {}
        for l in map(message, s.get(3, [])):
            if text(one(l, 1)) in labels:
                bad.append(f'label {text(one(l, 1))} twice')
            labels[text(one(l, 1))] = text(one(l, 2))
        samples.append({'stack': stack, 'values': dict(zip((t for t, _ in types), values)), 'labels': labels})
    if len({json.dumps([s['stack'], s['labels']], sort_keys=True) for s in samples}) != len(samples):
        bad.append('samples of the same stack and labels')
    if len(texts) != len(set(texts)):
        bad.append('texts twice')
    json.dump({'types': types, 'default': text(one(top, 14)), 'samples': samples,
               'comments': [text(c) for part in top.get(13, []) for c in numbers(part)],
               'time_nanos': str(one(top, 9, 'absent')),  # more than a double holds
               'duration_nanos': one(top, 10, None),
               'mappings': [text(one(m, 5)) for m in mappings.values()]}, sys.stdout)
    if bad:
        sys.exit('\n'.join(bad))


main()
