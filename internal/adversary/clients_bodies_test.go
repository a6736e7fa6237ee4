package adversary

// withBodies are attacks by the pace at which the attacker reads, and by that at which the origin answers it (RFC
// 9112 section 9.5): each client goes on at its own.
func withBodies() (all []attack) {
	const section = "RFC 9111 section 3.1"
	// More than the cache stores, and than the kernel holds for who does not read.
	const large = 12 << 20
	for name, s := range map[string]site{
		"a body larger than what is stored":                       {fields: explicit, size: large},
		"a body larger than what is stored, of an unknown length": {fields: explicit, size: large, chunked: true},
		"a body without end":                                      {fields: explicit, size: 64 << 10, endless: true},
		"a body of 900 kB":                                        {fields: explicit, size: 900 << 10},
		"a private body":                                          {fields: []string{"Cache-Control: private"}, size: large},
	} {
		for _, m := range []moment{reading, quitting} {
			all = append(all, attack{
				name: name, section: section, site: s, requests: []sending{{}}, moment: m, alone: true,
				ways: []route{site1, siteH2, forward1},
			})
		}
	}
	stalls := site{fields: explicit, size: 64 << 10, stalls: true}
	for _, m := range []moment{delaying, leaving, failing} {
		all = append(all, attack{
			name: "a body that stops half way for the leader", section: section, site: stalls, requests: []sending{{}},
			moment: m, alone: true,
		})
	}
	return all
}
