package webserver_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

const (
	rewriteModule = "LoadModule rewrite_module /usr/lib/apache2/modules/mod_rewrite.so"
	keepAlive     = "KeepAlive On\nMaxKeepAliveRequests 0"
)

// TestApache compares the responses of Apache to generated .htaccess files with those of their imports.
func TestApache(t *testing.T) {
	dir := testserver.OpenFolder(t)
	var cases []differential
	for seed := range seeds() {
		g := &apacheConfig{generator: newGenerator(seed), dir: fmt.Sprintf("/s%d/", seed)}
		text := g.file()
		if err := os.MkdirAll(filepath.Join(dir, g.dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, g.dir, ".htaccess"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, differential{
			seed: seed, text: text, host: "web.test", base: "https://web.test" + g.dir,
			requests: g.requests(g.dir), rules: g.rules, inner: g.inner,
		})
	}
	server := testserver.StartApache(t, dir, rewriteModule, keepAlive, "<Directory "+dir+">", "AllowOverride All",
		"Options FollowSymLinks", "</Directory>")
	compare(t, server.Addr(), bulk.W3ID, cases)
}

// TestApacheServer is TestApache with virtual hosts.
func TestApacheServer(t *testing.T) {
	const together = 1000
	for first := 0; first < seeds(); first += together {
		lines := []string{rewriteModule, keepAlive, "<VirtualHost *>\nServerName apache.test\n</VirtualHost>"}
		var cases []differential
		for seed := first; seed < min(first+together, seeds()); seed++ {
			g := &apacheConfig{generator: newGenerator(seed + 1<<20), dir: "/", server: true}
			host := fmt.Sprintf("s%d.test", seed)
			g.add("<VirtualHost *>\nServerName " + host)
			text := g.file() + "</VirtualHost>\n"
			lines = append(lines, text)
			cases = append(cases, differential{
				seed: seed, text: text, host: host, base: "https://" + host + "/",
				requests: g.requests("/"), rules: g.rules, inner: g.inner,
			})
		}
		server := testserver.StartApache(t, testserver.OpenFolder(t), lines...)
		compare(t, server.Addr(), bulk.W3ID, cases)
	}
}

// apacheConfig generates a .htaccess file.
type apacheConfig struct {
	*generator
	dir    string
	server bool // the rules belong to a virtual host
}

// rule adds a rule. Patterns of a virtual host include the leading slash of the path.
func (g *apacheConfig) rule(text string) {
	if g.server {
		text = strings.Replace(strings.Replace(text, "RewriteRule ^", "RewriteRule ^/", 1), "RewriteRule !^",
			"RewriteRule !^/", 1)
	}
	g.generator.rule(text)
}

func (g *apacheConfig) file() string {
	g.add("# generated")
	if g.chance(2) {
		g.add("Options -MultiViews")
	}
	switch {
	case g.chance(1):
		g.add("RewriteEngine off")
	default:
		g.add("RewriteEngine " + g.pick("on", "On"))
	}
	if !g.server && g.chance(10) {
		g.add("RewriteBase " + g.dir)
	}
	module := g.chance(10)
	if module {
		g.add("<IfModule mod_rewrite.c>")
	}
	for range 1 + g.IntN(7) {
		g.apacheRule()
	}
	if module {
		g.add("</IfModule>")
	}
	if g.chance(30) {
		g.catchAll()
	}
	if g.chance(5) { // unreachable rules
		g.apacheRule()
	}
	return strings.Join(g.lines, "\n") + "\n"
}

// flags returns flags, usually with L.
func (g *apacheConfig) flags(more ...string) string {
	flags := []string{"R=" + g.pick("301", "302", "302", "303", "307", "308", "permanent", "seeother")}
	if g.chance(10) {
		flags = []string{"R"}
	}
	flags = append(flags, more...)
	if g.chance(10) {
		flags = append(flags, g.pick("QSA", "QSA", "QSD", "NC", "NE", "B", "E=a:b"))
	}
	if !g.chance(5) {
		flags = append(flags, g.pick("L", "L", "END"))
	}
	return "[" + strings.Join(flags, ",") + "]"
}

func (g *apacheConfig) catchAll() {
	switch g.IntN(4) {
	case 0:
		g.rule("RewriteRule ^(.*)$ %s/$1 " + g.flags())
	case 1:
		g.rule("RewriteRule ^ %s/all " + g.flags())
	case 2:
		g.rule("RewriteRule .* %s/any " + g.flags())
	default:
		g.rule("RewriteRule ^(.+)$ %s/$1 " + g.flags())
	}
}

func (g *apacheConfig) apacheRule() {
	w, v := g.word(), g.pick(g.words...)
	switch g.IntN(34) {
	case 0, 1, 2, 3:
		g.rule("RewriteRule ^" + w + "$ %s/x " + g.flags())
	case 4, 5:
		g.rule("RewriteRule ^" + w + "/?$ %s/x " + g.flags())
	case 6:
		g.rule("RewriteRule ^" + w + "/" + v + "$ %s/x.html " + g.flags())
	case 7:
		g.rule("RewriteRule ^(" + w + "|" + v + ")/schema$ %s/$1/schema.json " + g.flags())
	case 8, 9, 10:
		g.rule("RewriteRule ^" + w + "/(.*)$ %s/" + g.pick("", "y/") + "$1 " + g.flags())
	case 11:
		g.rule("RewriteRule ^" + w + "/(.+)$ %s/doc?name=$1&f=html " + g.flags("QSA"))
	case 12:
		g.rule("RewriteRule ^" + w + "/([0-9]+)$ %s/n/$1 " + g.flags())
	case 13:
		g.rule("RewriteRule ^" + w + "/([a-z]+)/?$ %s/t/$1" + g.pick("", ".html") + " " + g.flags())
	case 14:
		g.rule("RewriteRule ^" + w + "(/.*)?$ %s/set$1 " + g.flags())
	case 15:
		g.rule("RewriteRule ^$ %s/ " + g.flags())
	case 16:
		g.rule("RewriteRule ^" + w + " %s/begin " + g.flags())
	case 17:
		g.rule("RewriteRule ^(.+)\\." + g.pick("ttl", "html") + "$ %s/$1.ttl " + g.flags())
	case 18, 19, 20:
		g.negotiated(g.pick("^$", "^"+w+"$", "^"+w+"/?$", "^"+w+"/(.+)$"))
	case 21:
		g.rule("RewriteRule ^" + w + "$ - [" + g.pick("G", "R=410", "G,L") + "]")
	case 22:
		switch g.IntN(5) {
		case 0:
			g.rule("RewriteRule ^" + w + "$ - [F]")
		case 1:
			g.rule("RewriteRule ^" + w + "$ - [L]")
		case 2:
			g.rule("RewriteRule !^" + w + " %s/not [R,L]")
		case 3:
			g.rule("RewriteRule ^" + w + "$ - [S=1]")
		default:
			g.rule("RewriteRule ^" + w + "$ " + v + " [L]")
			g.inner = append(g.inner, len(g.lines))
		}
	case 23:
		g.add("RewriteCond %{HTTP_HOST} " + g.pick("^web\\.test", "^other\\.test", "!^web", "web.test [NC]"))
		g.rule("RewriteRule ^" + w + "$ %s/host " + g.flags())
	case 24:
		if !g.chance(20) {
			g.rule("RewriteRule ^" + w + ".html$ %s/x " + g.flags())
			return
		}
		g.add("RewriteCond %{REQUEST_URI} !^" + g.dir + "(" + w + "|" + v + ")/?$")
		g.rule("RewriteRule ^(.*)$ %s/rest/$1 " + g.flags())
	case 25:
		g.rule("Redirect " + g.pick("", "permanent ", "303 ", "temp ") + g.dir + w + g.pick("", "/") + " %s/" +
			g.pick("", "m"))
	case 26:
		g.rule("RedirectMatch " + g.pick("", "301 ", "seeother ") + "^" + g.dir + w + "/(.*)$ %s/match/$1")
	case 27:
		g.rule("Redirect gone " + g.dir + w)
	case 28:
		g.rule("RewriteRule ^" + w + "$ %s/page#part " + g.flags(g.pick("NE", "NE", "R")))
	case 29:
		g.rule("RewriteRule ^" + w + "$ %s/q?a=b" + g.pick("", "&c=d", "") + " " + g.flags())
	case 30:
		g.rule("RewriteRule ^" + w + "/([^/]+)/([^/]+)$ %s/two/$1/$2 " + g.flags())
	case 31:
		g.rule("RewriteRule ^" + strings.ToUpper(w) + "$ %s/case " + g.flags("NC"))
	case 32:
		g.rule("RewriteRule ^" + w + "$ " + g.pick(g.dir+"local", "local") + "?r=%r " + g.flags())
	default:
		if g.chance(50) {
			g.rule("RewriteRule ^" + w + "\\.(ttl|rdf)$ %s/f.$1 " + g.flags())
			return
		}
		if g.chance(50) {
			g.add("RewriteCond %{REQUEST_FILENAME} !-f")
		} else {
			g.rule("RewriteRule ^" + w + "$ - [C]")
		}
		g.rule("RewriteRule ^" + w + "/?(.*)$ %s/f/$1 " + g.flags())
	}
}

// negotiated adds rules for media types.
func (g *apacheConfig) negotiated(pattern string) {
	g.accepts = true
	flags := g.flags()
	suffix := ""
	if strings.Contains(pattern, "(") {
		suffix = "/$1"
	}
	if g.chance(40) {
		g.add(`RewriteCond %{HTTP_ACCEPT} !application/rdf\+xml.*(text/html|application/xhtml\+xml)`)
		g.add(`RewriteCond %{HTTP_ACCEPT} text/html [OR]`)
		g.add(`RewriteCond %{HTTP_ACCEPT} application/xhtml\+xml [OR]`)
		g.add(`RewriteCond %{HTTP_USER_AGENT} ^Mozilla/.*`)
		g.rule("RewriteRule " + pattern + " %s/html" + suffix + " " + flags)
	}
	if g.chance(60) {
		g.add(`RewriteCond %{HTTP_ACCEPT} application/rdf\+xml`)
		g.rule("RewriteRule " + pattern + " %s/rdf" + suffix + " " + flags)
	}
	g.add(`RewriteCond %{HTTP_ACCEPT} text/turtle` +
		g.pick("", " [NC]", " [OR]\nRewriteCond %{HTTP_ACCEPT} application/x-turtle"))
	g.rule("RewriteRule " + pattern + " %s/ttl" + suffix + " " + flags)
	if g.chance(85) {
		g.rule("RewriteRule " + pattern + " %s/default" + suffix + " " + flags)
	}
}

// generator generates a random configuration.
type generator struct {
	*rand.Rand
	lines   []string
	rules   map[int]int // the lines of redirecting rules, by rule number
	words   []string
	used    int   // number of used words
	inner   []int // lines
	accepts bool
}

func newGenerator(seed int) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(seed), 7)), rules: map[int]int{}}
	g.words = []string{
		"a", "doc", "data", "v1", "id", "onto", "terms", "ns", "Spec", "x-y", "r2.0", "people",
		"def", "release",
	}
	g.Shuffle(len(g.words), func(i, j int) { g.words[i], g.words[j] = g.words[j], g.words[i] })
	return g
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

// word returns a word, usually an unused one.
func (g *generator) word() string {
	if g.used < len(g.words) && !g.chance(15) {
		g.used++
		return g.words[g.used-1]
	}
	return g.words[g.IntN(max(g.used, 1))]
}

func (g *generator) add(text string) { g.lines = append(g.lines, strings.Split(text, "\n")...) }

// rule adds a rule; %s is replaced by a target that contains the rule's number.
func (g *generator) rule(text string) {
	g.lines = append(g.lines, "")
	line := len(g.lines)
	text = strings.ReplaceAll(text, "%s", fmt.Sprintf("https://t.example/r%d", line))
	g.lines[line-1] = strings.ReplaceAll(text, "%r", fmt.Sprint(line))
	g.rules[line] = line
}

// requests returns request targets that match the words of a configuration, or almost match.
func (g *generator) requests(dir string) (all []request) {
	paths := []string{"", "other", "index.html", "7", "x.ttl", "deep/er/x.html"}
	for _, w := range g.words[:min(g.used+1, len(g.words))] {
		paths = append(paths, w, w+"/", w+"/7", w+"/abc", w+"/abc/", w+"/a-b/c", w+"x", w+"/schema", w+".ttl",
			w+"/x.ttl", w+"/a%20b", w+"/%C3%A9", w+"/%7Ea",
			w+"/a+b", w+"/a@b", strings.ToUpper(w), strings.ToLower(w), strings.ToUpper(w)+"/x", w+"/"+g.word(), w+"-1",
			w+"/a(1)", w+"/A_1")
	}
	g.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	for _, path := range append(paths[:min(32, len(paths))], "") {
		r := request{path: dir + path}
		if g.chance(20) {
			r.path += g.pick("?x=1", "?a=b&c=d", "?q")
		}
		if g.accepts {
			r.accept = g.pick("", "*/*", "text/turtle", "text/html", "application/rdf+xml", "application/json",
				"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
		}
		all = append(all, r)
	}
	return all
}
