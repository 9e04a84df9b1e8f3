#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""proto_fields.py FILE.proto…: a line per field (message, name, number, type, whether it repeats) and per value of an enumeration,
sorted. Files may import each other or not: a message is known by its own name."""
import re
import sys


def tokens(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    return re.findall(r"\"[^\"]*\"|[\w.]+|[{}=;\[\]<>,()-]", text)


def read(path):
    t, stack, i = tokens(open(path).read()), [], 0
    while i < len(t):
        w = t[i]
        if w in ("message", "enum", "oneof", "extend", "service") and t[i + 2:i + 3] == ["{"]:
            stack.append((w, t[i + 1]))
            i += 3
        elif w == "}":
            if stack:
                stack.pop()
            i += 1
        elif w in ("syntax", "package", "import", "option", "reserved", "extensions"):
            i = t.index(";", i) + 1
        elif stack and stack[-1][0] == "enum":
            yield f"{stack[-1][1]}.{w} = {t[i + 2]}"
            i = t.index(";", i) + 1
        elif stack and stack[-1][0] in ("message", "oneof"):
            end = t.index(";", i)
            repeated = w == "repeated"
            f = t[i + 1:] if w in ("optional", "required", "repeated") else t[i:]
            message = [n for k, n in stack if k == "message"][-1]
            if f[2] == "=":
                yield f"{message}.{f[1]} = {f[3]} {f[0].split('.')[-1]}{' repeated' if repeated else ''}"
            i = end + 1
        else:
            i += 1


print("\n".join(sorted({line for p in sys.argv[1:] for line in read(p)})))
