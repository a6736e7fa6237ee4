//go:build linux

package main

// floors returns the lower bounds for a program in Go if BENCH_FLOOR is set: a proxy with its own loop and with
// net/http, a resolver of the registry, and a redirect.
func floors(s settings) []peer {
	if s.floor == "" {
		return nil
	}
	const nothing = "it does nothing but ask its origin"
	all := make([]peer, 0, 3)
	for _, mode := range []string{"loop", "net-http"} {
		all = append(all, peer{
			name: "floor-" + mode,
			command: func(p place) []string {
				return []string{s.floor, "-mode", mode, "-listen", p.Forward + "," + p.Gateway, "-origin", p.Origin}
			},
			env: func(p place) []string { return []string{maxProcs(p)} },
			cannot: map[form]string{
				redirect: nothing, download: nothing, upload: nothing, ftpFile: nothing,
				ftpDirectory: nothing,
			},
		})
	}
	const redirects = "it does nothing but redirect"
	all = append(all, peer{
		name: "floor-redirect",
		command: func(p place) []string {
			return []string{
				s.floor, "-mode", "redirect", "-listen", p.Secure + "," + p.Gateway, "-certificate",
				p.Dir + "/tls.pem", "-location", p.Location,
			}
		},
		env:    func(p place) []string { return []string{maxProcs(p)} },
		secure: true,
		cannot: map[form]string{
			forward: redirects, gateway: redirects, download: redirects, upload: redirects, ftpFile: redirects,
			ftpDirectory: redirects,
		},
	})
	if !hasRegistered(s) {
		return all
	}
	const names = "it does nothing but look names up"
	return append(all, peer{
		name: "floor-registry",
		command: func(p place) []string {
			return []string{s.floor, "-mode", "registry", "-listen", p.Forward + "," + p.Gateway, "-store", p.Store}
		},
		env:   func(p place) []string { return []string{maxProcs(p)} },
		names: true,
		cannot: map[form]string{
			redirect: names, forward: names, gateway: names, download: names, upload: names, ftpFile: names,
			ftpDirectory: names,
		},
	})
}
