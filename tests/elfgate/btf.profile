# Objects with BTF sections, whatever their registers.
machine = bpf
btf = present
btf-ext = present
