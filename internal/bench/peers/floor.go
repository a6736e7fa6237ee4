//go:build linux

package main

// floors returns the least that a proxy in Go does, where the program is given: by a loop of its own, and by net/http.
func floors(s settings) []peer {
	if s.floor == "" {
		return nil
	}
	const nothing = "it does nothing but ask its origin"
	all := make([]peer, 0, 2)
	for _, mode := range []string{"loop", "net-http"} {
		all = append(all, peer{
			name: "floor-" + mode,
			command: func(p place) []string {
				return []string{s.floor, "-mode", mode, "-listen", p.Forward + "," + p.Gateway, "-origin", p.Origin}
			},
			env:    func(p place) []string { return []string{maxProcs(p)} },
			cannot: map[form]string{redirect: nothing, download: nothing, upload: nothing, ftpFile: nothing, ftpDirectory: nothing},
		})
	}
	return all
}
