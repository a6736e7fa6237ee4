package webserver_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// corpusCase is a realistic configuration of a site, from a file of testdata. Its first line is "# base:
// URL". The requests are at its end, as "#> PATH | ACCEPT | LINE": LINE is the listed rule that the server
// applies, if the import responds differently.
type corpusCase struct {
	differential

	name   string
	listed map[request]int
}

// corpus reads the files of a folder of testdata.
func corpus(t *testing.T, folder string) (all []*corpusCase) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.conf"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files in testdata/", folder, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := &corpusCase{name: strings.TrimSuffix(filepath.Base(file), ".conf"), listed: map[request]int{}}
		var requests string
		c.text, requests, _ = strings.Cut(string(b), "#> ")
		first, _, _ := strings.Cut(c.text, "\n")
		base, ok := strings.CutPrefix(first, "# base: ")
		at, err := url.Parse(base)
		if !ok || err != nil || requests == "" {
			t.Fatalf("%s has no base or no requests", file)
		}
		c.base, c.host = base, at.Host
		for line := range strings.Lines(requests) {
			fields := append(strings.Split(strings.TrimSpace(strings.TrimPrefix(line, "#> ")), "|"), "", "")
			r := request{strings.TrimSpace(fields[0]), strings.TrimSpace(fields[1])}
			c.requests = append(c.requests, r)
			if text := strings.TrimSpace(fields[2]); text != "" {
				if c.listed[r], err = strconv.Atoi(text); err != nil {
					t.Fatal(file, err)
				}
			}
		}
		all = append(all, c)
	}
	return all
}

// portOf replaces the ports in a configuration: that of the base's scheme by main, the other one by other.
func (c *corpusCase) portOf(expression *regexp.Regexp, text, main, other string) string {
	own := map[bool]string{true: "443", false: "80"}[strings.HasPrefix(c.base, "https")]
	pair := strings.Contains(text, "443") && (strings.Contains(text, ":80>") || strings.Contains(text, "listen 80"))
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		if pair && !strings.Contains(found, own) {
			return other
		}
		return main
	})
}

// TestApacheCorpus compares the responses of Apache to configurations of sites with those of their imports.
func TestApacheCorpus(t *testing.T) {
	dir := testserver.OpenFolder(t)
	lines := []string{
		rewriteModule, keepAlive, "<Directory " + dir + ">", "AllowOverride All",
		"Options FollowSymLinks", "</Directory>", "<VirtualHost *>\nServerName apache.test\n</VirtualHost>",
	}
	hosts := map[string]bool{}
	ports := regexp.MustCompile(`<VirtualHost [^>]*>`)
	absent := regexp.MustCompile(`(?m)^\s*(SSL|ErrorLog|CustomLog).*$`)
	cases := corpus(t, "apache")
	for _, c := range cases {
		if strings.Contains(c.text, "<VirtualHost") {
			lines = append(lines, c.portOf(ports, absent.ReplaceAllString(c.text, ""), "<VirtualHost *>",
				"<VirtualHost *:1>"))
			continue
		}
		at, _ := url.Parse(c.base)
		folder := filepath.Join(dir, c.host, at.Path)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, ".htaccess"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if !hosts[c.host] {
			hosts[c.host] = true
			lines = append(lines, "<VirtualHost *>", "ServerName "+c.host, "DocumentRoot "+filepath.Join(dir, c.host),
				"</VirtualHost>")
		}
	}
	server := testserver.StartApache(t, dir, lines...)
	rules := regexp.MustCompile(`(?i)^\s*(RewriteRule|Redirect)`)
	n := &corpusCounts{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { n.compare(t, server.Addr(), bulk.W3ID, c, rules) })
	}
	n.report(t)
}

// TestNginxCorpus compares the responses of nginx to configurations of sites with those of their imports.
func TestNginxCorpus(t *testing.T) {
	ports := regexp.MustCompile(`listen [^;]*;`)
	absent := regexp.MustCompile(`(?m)^\s*(ssl_|http \{|include mime).*$|^\}\s*\z`)
	rules := regexp.MustCompile(`return (30[12378]|410|http)|rewrite |^\s*\S+ (https?://|\$)\S*;$`)
	n := &corpusCounts{}
	for _, c := range corpus(t, "nginx") {
		t.Run(c.name, func(t *testing.T) {
			dir := testserver.OpenFolder(t)
			text := c.portOf(ports, strings.ReplaceAll(strings.ReplaceAll(c.text, "listen [::]:80;", ""),
				"listen [::]:443 ssl;", ""), "listen "+testserver.NginxListen+";",
				"listen unix:"+filepath.Join(dir, "web", "other.sock")+";")
			if strings.Contains(text, "\nhttp {") {
				text = absent.ReplaceAllString(text, "")
			}
			text = regexp.MustCompile(`(?m)^\s*ssl_.*$`).ReplaceAllString(text, "")
			server := testserver.StartNginxProxy(t, dir, text)
			n.compare(t, server.Addr(), bulk.Nginx, c, rules)
		})
	}
	n.report(t)
}

// corpusCounts counts the imported rules of a corpus.
type corpusCounts struct{ rules, taken, requests, listed int }

func (n *corpusCounts) report(t *testing.T) {
	t.Helper()
	share := 100 * n.taken / max(n.rules, 1)
	t.Logf("%d of %d rules imported (%d %%); %d requests, %d of them to listed rules", n.taken, n.rules, share,
		n.requests, n.listed)
}

// compare sends each request of a configuration to the server and to the import.
func (n *corpusCounts) compare(t *testing.T, addr string, format bulk.Format, c *corpusCase, rules *regexp.Regexp) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	r, names := openRegistry(t)
	i := newImported(t, r, names, format, &c.differential)
	for number, line := range strings.Split(c.text, "\n") {
		if rules.MatchString(line) && !strings.Contains(i.rejected[number+1], "precedes it") {
			n.rules++
			if i.rejected[number+1] == "" {
				n.taken++
			}
		}
	}
	for _, requested := range c.requests {
		status, location := ask(t, client, addr, c.host, requested)
		own, ownLocation := i.answer(t, c.origin(), requested)
		location, ownLocation = normal(location, c.host, addr), normal(ownLocation, c.host, addr)
		answered := status/100 == 3 || status == http.StatusGone
		equal := own == status && ownLocation == location || !answered && own == http.StatusNotFound
		n.requests++
		line := c.listed[requested]
		switch {
		case equal && line == 0:
		case equal:
			t.Errorf("%s (Accept %q) is equal, want it listed by line %d", requested.path, requested.accept, line)
		case line != 0 && i.rejected[line]+i.unmapped[line] != "":
			n.listed++
		default:
			t.Errorf("%s (Accept %q) is %d %s, and %d %s by the import", requested.path, requested.accept, status,
				location,
				own, ownLocation)
		}
	}
	if t.Failed() {
		t.Logf("rejected:\n%slost:\n%s", byLine(i.rejected), byLine(i.unmapped))
	}
}

func byLine(reasons map[int]string) string {
	var b strings.Builder
	for line := range 1000 {
		if reasons[line] != "" {
			b.WriteString(strconv.Itoa(line) + ": " + reasons[line] + "\n")
		}
	}
	return b.String()
}
