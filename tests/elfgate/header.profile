# What the header alone says.
class = 64
byte-order = little
osabi = sysv gnu
