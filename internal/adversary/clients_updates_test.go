package adversary

import "net/http"

// withUpdates returns attacks on stored responses by responses that update them (RFC 9111 sections 3.2, 4.3.4
// and 4.3.5): the content is identical for all clients, but a field repeats a part of the request.
func withUpdates() (all []attack) {
	reflects := func(fields ...string) site {
		return site{
			fields: fields, ignores: []string{"x-evil", "x-http-method-override"},
			reacts: func(v *visit) (int, []string) {
				if value := v.Header.Get("X-Evil"); value != "" {
					return http.StatusOK, []string{"X-Reflected: " + value}
				}
				return http.StatusOK, nil
			},
		}
	}
	evil, first := "X-Evil: evil", sending{}
	for name, s := range map[string]site{
		"fresh": reflects(explicit...), "heuristic": reflects(heuristic...),
		"stale":                       reflects("Cache-Control: max-age=0"),
		"stale while it is validated": reflects("Cache-Control: max-age=0, stale-while-revalidate=600"),
	} {
		for how, r := range map[string]sending{
			"GET":                {fields: []string{evil}},
			"HEAD":               {method: "HEAD", fields: []string{evil}},
			"GET with no-cache":  {fields: []string{evil, "Cache-Control: no-cache"}},
			"GET with max-age=0": {fields: []string{evil, "Cache-Control: max-age=0"}},
			"HEAD with no-cache": {method: "HEAD", fields: []string{evil, "Cache-Control: no-cache"}},
			"GET with Range":     {fields: []string{evil, "Cache-Control: no-cache", "Range: bytes=0-4"}},
			"a condition":        {fields: []string{evil, `If-None-Match: "other"`}},
		} {
			all = append(all, attack{
				name: "an update by " + how + ", " + name, section: "RFC 9111 section 4.3.4", site: s,
				requests: []sending{first, r}, asks: []shape{bare, browser}, ways: []route{site1, siteH2, forward1},
			})
		}
	}
	// Origin selects the access of a page (Fetch section 3.2.5), even if Vary does not name it.
	allows := site{fields: explicit, ignores: []string{"origin"}, reacts: func(v *visit) (int, []string) {
		if origin := v.Header.Get("Origin"); origin != "" {
			return http.StatusOK, []string{"Access-Control-Allow-Origin: " + origin}
		}
		return http.StatusOK, nil
	}}
	page := shape{"a page", []string{"Origin: http://good.example"}}
	return append(all, attack{
		name: "Origin", section: "Fetch section 3.2.5", site: allows,
		requests: []sending{{fields: []string{"Origin: http://evil.example"}}}, asks: []shape{bare, page},
	})
}
