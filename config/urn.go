package config

import "github.com/urnd/urnd/uri"

func checkAccept(f *Faults, path string, value any) {
	if accept, _ := value.([]string); len(accept) == 0 {
		f.Add(path, "names no specification, so every URN would be refused")
	}
}

// Specs returns the specifications in Accept.
func (u URN) Specs() uri.Conformance {
	var specs uri.Conformance
	for _, name := range u.Accept {
		spec, _ := uri.ParseConformance(name) // Validate has checked it
		specs |= spec
	}
	return specs
}
