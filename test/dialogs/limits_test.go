//go:build e2e

package dialogs

import "strings"

// late are clients that send too slowly: this family has short timeouts.
func late() []dialog {
	part := "POST /api/v1/resolve HTTP/1.1\r\nHost: urnd.example\r\nContent-Type: text/plain\r\nContent-Length: " +
		"11\r\n\r\nurn:"
	chunk := "POST /api/v1/resolve HTTP/1.1\r\nHost: urnd.example\r\nContent-Type: text/plain\r\nTransfer-Encoding: " +
		"chunked\r\n\r\nb\r\nurn:"
	one := get("/urn:plain:late")
	nothing := []string{"GET"}
	return []dialog{
		{name: "a body that does not come", steps: []step{{send: part}}},
		{name: "a chunk that does not come", steps: []step{{send: chunk}}},
		{
			name: "a body to the proxy that does not come",
			steps: []step{{send: "POST http://origin.example:8000/echo/late HTTP/1.1\r\nHost: a\r\nContent-Length: " +
				"11\r\n\r\nurn:"}},
		},
		{
			name:  "a body behind 100 that does not come",
			steps: []step{{send: strings.Replace(part, "\r\n\r\nurn:", "\r\nExpect: 100-continue\r\n\r\n", 1)}},
		},
		{
			name:  "a body behind a hit that does not come",
			steps: []step{{send: one + part, methods: []string{"GET", "POST"}}},
		},
		{
			name:  "a refused body that does not come",
			steps: []step{{send: strings.Replace(part, "/api/v1/resolve", "/urn:plain:late", 1)}},
		},
		{name: "a head that does not come", steps: []step{{send: one[:20], methods: nothing}}},
		{name: "nothing", steps: []step{{methods: nothing}}},
		{name: "an empty line", steps: []step{{send: "\r\n", methods: nothing}}},
		{
			name:  "a head that does not come, behind a hit",
			steps: []step{{send: one}, {send: one[:20], methods: nothing}},
		},
		{
			name:  "a head that does not come, behind a hit in one write",
			steps: []step{{send: one + one[:20], methods: []string{"GET", "GET"}}},
		},
		{name: "nothing behind a hit", steps: []step{{send: one}, {methods: nothing}}},
		{name: "nothing behind a miss", steps: []step{{send: get("/urn:plain:lateagain")}, {methods: nothing}}},
		{name: "nothing behind a document", steps: []step{{send: get("/robots.txt")}, {methods: nothing}}},
		{
			name: "an origin that does not answer",
			steps: []step{{
				send:  proxied("GET", "gate", "late"),
				after: func(w *world) { w.origin.gate("/gate/late").release() },
			}},
		},
		{
			name: "an origin that does not answer, and what is stored",
			steps: []step{{
				send:  proxied("HEAD", "gate", "latehead"),
				after: func(w *world) { w.origin.gate("/gate/latehead").release() },
			}},
		},
	}
}

// small are requests above the limits, which are low in this family.
func small() []dialog {
	var all []dialog
	for _, target := range []string{"/urn:plain:%s", "http://origin.example:8000/short/%s", "/?uri=urn:plain:%s"} {
		for _, size := range []int{200, 250, 256, 257, 300, 5000} {
			text := strings.Replace(target, "%s", strings.Repeat("a", size-len(target)+2), 1)
			all = append(all, once("a target of "+itoa(size)+" bytes, "+target, get(text)),
				pipelined("a target of "+itoa(size)+" bytes behind a hit, "+target, get("/urn:plain:small"), get(text)))
		}
	}
	for _, size := range []int{3000, 3900, 4000, 4050, 4096, 4100, 4200, 5000, 8000, 9000, 20_000} {
		all = append(all, once("a head of "+itoa(size)+" bytes",
			get("/urn:plain:small", "X: "+strings.Repeat("y", size-60))),
			once("a head of "+itoa(size)+" bytes in many fields",
				get("/urn:plain:small", strings.TrimSuffix(strings.Repeat("X: yyyyy\r\n", size/10-6), "\r\n"))))
	}
	return all
}

// busy are requests while a limit is exhausted by a request in progress.
func busy() []dialog {
	short := proxied("GET", "short", "busy")
	old := meanwhile("a second page of HTTP 1.0", localClient, localClient,
		step{send: strings.Replace(short, "1.1", "1.0", 1)})
	return []dialog{
		meanwhile("a second page", localClient, localClient, step{send: short}),
		meanwhile("a second page of another client", localClient, otherClient, step{send: short}), old,
		meanwhile("a name", localClient, localClient, step{send: get("/urn:plain:busy")}),
		meanwhile("a document", localClient, localClient, step{send: get("/robots.txt")}),
		meanwhile("a tunnel", localClient, localClient,
			step{send: request("CONNECT echo.example:9443 HTTP/1.1", "Host: echo.example:9443")}),
		meanwhile("a fetch", localClient, localClient,
			step{send: get("/fetch?uri=http://origin.example:8000/short/busy")}),
		meanwhile("a page", localClient, localClient, step{send: get("/docs/names", "Accept: text/html")}),
	}
}

// crowded are connections of clients that already have one in use. The second sends nothing before it is
// answered, because data arriving meanwhile could turn the close into a reset.
func crowded() []dialog {
	return []dialog{
		meanwhile("a second connection", "127.0.1.1", "127.0.1.1", step{methods: []string{"GET"}}),
		meanwhile("a connection of another client", "127.0.1.2", "127.0.1.3", step{send: get("/urn:plain:crowded")}),
	}
}

// meanwhile is a dialog played during a request of a client, which the origin answers afterwards.
func meanwhile(name, holding, from string, steps ...step) dialog {
	return dialog{name: name, play: func(w *world, n *normalizer) ([]string, int, error) {
		probe, err := probeOf(w, n)
		if err != nil {
			return nil, 0, err
		}
		holder, err := dialog{from: holding}.connect(w, n)
		if err != nil {
			return nil, 0, err
		}
		defer holder.Close()
		unique := strings.ReplaceAll(name, " ", "-")
		g := w.origin.gate("/gate/" + unique)
		defer g.release()
		if err := holder.step(step{send: proxied("GET", "gate", unique), waits: true}); err != nil {
			return nil, 0, err
		}
		if err := g.await(); err != nil {
			return nil, 0, err
		}
		lines, responses, err := dialog{from: from, steps: steps}.record(w, n, probe)
		g.release()
		holder.readFinal("GET", false)
		return append(append(holder.lines, "| meanwhile, on another connection"), lines...), responses + 1, err
	}}
}
