package webserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// TestNginx compares the responses of nginx to generated configurations with those of their imports.
func TestNginx(t *testing.T) {
	const together = 1000
	for first := 0; first < seeds(); first += together {
		var cases []differential
		http := "variables_hash_max_size 65536; variables_hash_bucket_size 128; server_names_hash_max_size 65536; " +
			"server_names_hash_bucket_size 128; map_hash_bucket_size 256;\n"
		for seed := first; seed < min(first+together, seeds()); seed++ {
			g := &nginxConfig{newGenerator(seed), seed}
			host := fmt.Sprintf("s%d.test", seed)
			text := g.file(host)
			http += strings.Replace(text, "listen 80;", "listen "+testserver.NginxListen+";", 1)
			cases = append(cases, differential{
				seed: seed, text: text, host: host, base: "https://" + host,
				requests: g.requests("/"), rules: g.rules, inner: g.inner,
			})
		}
		server := testserver.StartNginxProxy(t, testserver.OpenFolder(t), http)
		compare(t, server.Addr(), bulk.Nginx, cases)
	}
}

// nginxConfig generates a configuration of nginx.
type nginxConfig struct {
	*generator
	seed int
}

func (g *nginxConfig) file(host string) string {
	var use string
	if g.chance(35) {
		use = g.table()
	}
	g.add("server {")
	g.add("listen 80;")
	g.add("server_name " + host + ";")
	if use != "" {
		g.use(use)
	}
	for range g.IntN(4) {
		g.rewrite("")
	}
	seen := map[string]bool{}
	for range 1 + g.IntN(5) {
		g.location(seen, 0)
	}
	if g.chance(30) {
		g.rule(`location / { return ` + g.status() + ` %s$request_uri; }`)
	}
	g.add("}")
	return strings.Join(g.lines, "\n") + "\n"
}

func (g *nginxConfig) status() string { return g.pick("301", "302", "303", "307", "308") }

// table adds a map, and returns the directives that use it.
func (g *nginxConfig) table() string {
	source := g.pick("$request_uri", "$uri", "$uri")
	name := fmt.Sprintf("$m%d", g.seed)
	g.add("map " + source + " " + name + " {")
	withDefault := g.chance(30)
	if withDefault {
		g.add(`default "";`)
	}
	seen := map[string]bool{}
	for range 1 + g.IntN(4) {
		w := g.word()
		if seen[w] {
			continue
		}
		seen[w] = true
		switch g.IntN(6) {
		case 0, 1, 2:
			g.rule("/" + w + g.pick("", "/", "/"+g.pick(g.words...)) + " %s/x;")
		case 3:
			if g.chance(70) {
				continue
			}
			g.rule("~^/" + w + "/(?<rest" + g.pick("a", "b") + fmt.Sprint(g.seed) + ">.*)$ %s/items;")
		case 4:
			g.rule("~^/" + w + "/(.*)$ %s/c/$1;")
		default:
			g.rule("/" + w + " %s/x?a=b;")
		}
	}
	if !withDefault && g.chance(15) {
		g.rule("default %s/default;")
	}
	g.add("}")
	return name
}

// use adds directives that use a map.
func (g *nginxConfig) use(name string) {
	switch g.IntN(4) {
	case 0:
		g.add("if (" + name + ") { return " + g.status() + " " + name + "; }")
	case 1:
		g.add("if (" + name + " != \"\") { rewrite ^ " + name + g.pick("", "?") + " " +
			g.pick("permanent", "redirect") + "; }")
	case 2:
		g.add("if (" + name + ") { return 301 " + name + "$is_args$args; }")
	default:
		g.add("if (" + name + " = 410) { return 410; }\nif (" + name + ") { return 302 " + name + "; }")
	}
}

// rewrite adds a rewrite directive below a path.
func (g *nginxConfig) rewrite(within string) {
	w := within + "/" + g.word()
	flag := g.pick("permanent", "permanent", "redirect", "")
	end := g.pick("", "", "", "", "", "?")
	switch g.IntN(12) {
	case 0, 1:
		g.rule("rewrite ^" + w + "$ %s/x" + end + " " + flag + ";")
	case 2, 3, 4:
		g.rule("rewrite ^" + w + "/(.*)$ %s/y/$1" + end + " " + flag + ";")
	case 5:
		g.rule("rewrite ^" + w + "/?$ %s/x?a=b" + end + " " + flag + ";")
	case 6:
		g.rule("rewrite ^" + w + "/([0-9]+)$ %s/n/$1 " + flag + ";")
	case 7:
		g.rule("rewrite \"^" + w + "/([a-z]{3})$\" %s/t/$1 " + flag + ";")
	case 8:
		g.add("rewrite ^" + w + "$ /index.html " + g.pick("last", "break") + ";")
		g.inner = append(g.inner, len(g.lines))
	case 9:
		g.rule("rewrite ^" + w + "$ /local?r=%r permanent;")
	case 10:
		g.rule("rewrite ^" + w + "(/.*)?$ %s/set$1" + end + " " + flag + ";")
	default:
		g.rule("rewrite ^" + w + " %s/begin" + end + " " + flag + ";")
	}
}

// location adds a location.
func (g *nginxConfig) location(seen map[string]bool, depth int) {
	w := "/" + g.word()
	kind, path := "", w
	switch g.IntN(12) {
	case 0, 1, 2:
		kind = "="
	case 3:
		kind, path = "^~", w+"/"
	case 4, 5, 6:
		path = w + "/"
	case 7:
		path = w + "/" + g.pick(g.words...) + "/"
	case 8, 9:
		kind, path = "~", "^"+w+"/(.*)$"
	case 10:
		kind, path = "~*", "^"+w+"$"
	}
	key := kind + path
	if kind == "^~" {
		key = path
	}
	if seen[key] {
		return
	}
	seen[key] = true
	g.lines = append(g.lines, "location "+kind+" "+path+" {")
	if kind == "" && depth == 0 && g.chance(10) {
		seen := map[string]bool{path: true}
		inner := path + "in/"
		if !seen[inner] {
			g.rule("location " + strings.ReplaceAll(inner, "//", "/") + " { return 301 %s/inner$request_uri; }")
		}
	}
	if g.chance(15) && (kind == "=" || kind == "~*") {
		g.accepts = true
		g.rule(`if ($http_accept ~* "text/turtle") { return 303 %s/ttl; }`)
		g.rule(`return 303 %s/html;`)
		g.add("}")
		return
	}
	if kind == "" && g.chance(10) {
		g.rewrite(strings.TrimSuffix(path, "/"))
	}
	switch {
	case g.chance(6):
		g.add("return " + g.pick("404", "403", "410") + ";")
	case g.chance(4):
		g.add("root /nowhere;")
	case g.chance(4):
		g.rule("if ($host = " + g.pick("other.test", fmt.Sprintf("s%d.test", g.seed)) +
			") { return 302 %s/host$request_uri; }")
		g.rule("return 301 %s/else$request_uri;")
	case kind == "~":
		g.rule("return " + g.status() + " %s/loc/$1" + g.pick("$is_args$args", "$is_args$args", "$is_args$args", "") +
			";")
	case kind == "=" || kind == "~*":
		g.rule("return " + g.status() + " %s/eq" + g.pick("", "$is_args$args", "$request_uri") + ";")
	default:
		switch g.IntN(8) {
		case 0:
			g.rule("return " + g.status() + " %s/fixed;")
		case 1:
			g.rule("rewrite ^" + strings.TrimSuffix(path, "/") + "/(.*)$ %s/rw/$1 permanent;")
		case 2:
			g.rule("rewrite ^(.*)$ %s$1 " + g.pick("permanent", "redirect") + ";")
		default:
			g.rule("return " + g.status() + " " + g.pick("%s", "%s/p") + "$request_uri;")
		}
	}
	g.add("}")
}
