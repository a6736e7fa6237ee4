package config

func checkNotEmpty(f *Faults, path string, value any) {
	if list, _ := value.([]string); len(list) == 0 {
		f.Add(path, "names no system, so no URN would be resolved")
	}
}

func checkFallback(f *Faults, path string, value any) {
	if template, _ := value.(string); template != "" {
		checkTemplate(f, path, template, []string{"urn", "nid", "nss"})
	}
}

func checkIdentifiers(f *Faults, identifiers []Identifier) {
	for i, identifier := range identifiers {
		at := index("resolve.identifiers", i)
		if identifier.Pattern == "" {
			f.Add(at+".pattern", "is missing")
		}
		checkPattern(f, at+".pattern", identifier.Pattern)
		checkTemplate(f, at+".template", identifier.Template, groupsOf(identifier.Pattern), "doi", "hdl", "ark")
	}
}
