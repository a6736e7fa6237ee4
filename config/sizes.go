package config

import (
	"fmt"
	"strconv"
)

// sizesWithoutUnit returns, by path, what to write for sizes without unit: octets are meant by few who write 64.
func sizesWithoutUnit(get func(path string) any) map[string]string {
	sizes := make(map[string]string)
	for path, byDefault := range leaves(Default()) {
		if _, ok := byDefault.(Size); !ok {
			continue
		}
		value := get(path)
		text := fmt.Sprint(value)
		_, isDefault := value.(Size)
		if n, err := strconv.ParseUint(text, 10, 62); err == nil && n > 0 && !isDefault {
			sizes[path] = fmt.Sprintf("%s has no unit: write %s", text, withUnit(Size(n)))
		}
	}
	return sizes
}

// withUnit returns how a number of octets is written, and what a small one means to many.
func withUnit(n Size) string {
	const fewMeanOctets = 64 << 10
	if n < fewMeanOctets {
		return fmt.Sprintf("%dMiB, or %s, which it is taken for", n, show(n))
	}
	return show(n) + ", which it is taken for"
}

// Warnings returns what is valid in a configuration, and probably not meant.
func (o Origins) Warnings(c Config) Faults {
	f := c.Warnings()
	for _, s := range Settings() {
		if size := o.sizes[s.Path]; size != "" {
			f.Add(s.Path, "%s", size)
		}
	}
	o.warnOfEmpty(&f)
	if o.settings["access.cors"].Kind != FromDefault {
		warnOfAllOrigins(&f, c.Access)
	}
	return f
}

// explain says of sizes that have no unit what to write, where that is why they are wrong.
func explain(f Faults, sizes map[string]string) {
	for i := range f {
		if size := sizes[f[i].Path]; size != "" {
			f[i].Message = size + ": " + f[i].Message
		}
	}
}
