# What our BPF object is on x86-64.
machine = bpf
class = 64
byte-order = little
file-type = relocatable
btf = present
btf-ext = present
bpf-arch = x86_64
