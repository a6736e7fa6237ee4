//go:build e2e

package browser

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/test/urndtest"
)

// browserSite is urnd with all features of its pages.
type browserSite struct {
	*urndtest.Daemon
	gopher string // URL of a gopher server
}

// startBrowserSite runs urnd with a registry, a logo, texts of a site, and a gopher server. change may be nil.
func startBrowserSite(t testing.TB, change func(*config.Config)) *browserSite {
	t.Helper()
	s, store := &browserSite{gopher: startMenu(t)}, browserRegistry(t)
	s.Daemon = urndtest.Start(t, "127.0.0.1:1", func(c *config.Config) {
		c.Registry.Store = "sqlite:" + store
		configureBrowserSite(t, c)
		if change != nil {
			change(c)
		}
	})
	return s
}

// configureBrowserSite sets the content of the pages of a site with a registry.
func configureBrowserSite(t testing.TB, c *config.Config) {
	t.Helper()
	logo := filepath.Join(t.TempDir(), "logo.svg")
	const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#a00040" d="M4 5h10q2 0 2 2v21q0-2-2-2H4z"/><path fill="#d04070" d="M28 5H18q-2 0-2 2v21q0-2 2-2h10z"/></svg>`
	if err := os.WriteFile(logo, []byte(drawing), 0o600); err != nil {
		t.Fatal(err)
	}
	c.DDDS.Enabled = false
	c.Registry.Owned, c.Registry.Hosts, c.Registry.DigitalLink = []string{"urn:", "ark:/12345/"},
		[]string{"purl.example"}, []config.DigitalLink{{Root: linkRoot + "/"}}
	local := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Access.AllowDestinations, c.Access.BrowseClients, c.Access.BrowseAllClients = local, local, local
	c.Site = config.Presentation{
		Name: "Library of Examples", Logo: logo, Accent: "#a00040", Contact: "mailto:anna@library.example",
		Imprint: "https://library.example/imprint",
		Privacy: "https://library.example/privacy", Language: "en",
		Examples: []string{"urn:example:book", "urn:isbn:9780395363416", "ISSN 0028-0836"},
		Texts: []config.SiteText{
			{Language: "en", Name: "Library of Examples", Welcome: "Welcome: here names lead to what they name."},
			{Language: "de", Name: "Bibliothek der Beispiele", Welcome: "Hier finden Sie, was unsere Namen benennen."},
		},
	}
}

// linkRoot and gtin form a GS1 Digital Link URI.
const (
	linkRoot = "https://id.example"
	gtin     = "/01/09506000134352"
)

// browserRegistry returns the file of a registry with a name of each kind that pages distinguish.
func browserRegistry(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now := time.Date(2019, 3, 1, 9, 30, 0, 0, time.UTC)
	asItIs := func(text string) (string, error) { return text, nil } // all names are canonical
	r := registry.New(registry.Config{
		Store: store, Canonical: asItIs, CanonicalPrefix: asItIs,
		Now: func() time.Time { return now },
	})
	change := func(key registry.Key, change func(registry.Entry) (registry.Record, error)) {
		t.Helper()
		edit := registry.Edit{Key: key, IfVersion: registry.AnyVersion, Change: change}
		if _, err := r.Apply(t.Context(), registry.Actor{Name: "test", Role: registry.Admin}, edit); err != nil {
			t.Fatal(err)
		}
	}
	put := func(key registry.Key, record registry.Record) {
		t.Helper()
		change(key, registry.Put(record))
	}
	book := registry.Record{
		Metadata: `{"title": "Kalevala", "creators": ["Lönnrot, Elias"], "issued": "1849", "publisher": "Suomalaisen Kirjallisuuden Seura"}`,
		Contact:  "Anna <anna@library.example>",
	}
	for _, host := range []string{"old", "books"} {
		book.Targets = []registry.Target{
			{URI: "https://" + host + ".example/kalevala.html", Type: "text/html", Language: "fi", Title: "Suomeksi"},
			{
				URI: "https://" + host + ".example/kalevala-en.pdf", Type: "application/pdf", Language: "en",
				Title: "In English", Priority: 1,
			},
			{URI: "https://" + host + ".example/kalevala.rdf", Type: "application/rdf+xml", Rel: "describedby"},
			{URI: "https://creativecommons.org/publicdomain/mark/1.0/", Rel: "license"},
		}
		put(registry.Name("urn:example:book"), book)
		now = now.AddDate(1, 1, 3)
	}
	put(registry.Name("urn:example:epic"), registry.Record{Alias: "urn:example:book"})
	put(registry.Name("urn:example:reserved"),
		registry.Record{Status: registry.Reserved, Contact: "mailto:anna@library.example"})
	put(registry.Name("urn:example:old"), registry.Record{Targets: []registry.Target{{URI: "https://old.example/1"}}})
	put(registry.Prefix("urn:example:trial:"), registry.Record{Sandbox: true})
	put(registry.Name("urn:example:trial:1"),
		registry.Record{Targets: []registry.Target{{URI: "https://trial.example/1"}}})
	put(registry.Name(linkRoot+gtin), registry.Record{Targets: []registry.Target{
		{Rel: "gs1:defaultLink", URI: "https://shop.example/item", Title: "Dal Giardino"},
		{Rel: "gs1:pip", URI: "https://shop.example/item", Title: "Product page"},
		{Rel: "gs1:safetyInfo", URI: "https://shop.example/s", Language: "en"},
	}})
	put(registry.Name("https://purl.example/a"),
		registry.Record{Targets: []registry.Target{{URI: "https://books.example/a"}}})
	now = now.AddDate(0, 1, 0)
	change(registry.Name("urn:example:old"), registry.Withdraw("two editions were one", "urn:example:book"))
	return path
}

// startMenu starts a gopher server with one menu, and returns its URL.
func startMenu(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(testserver.Timeout))
			_, _ = bufio.NewReader(conn).ReadString('\n')
			fmt.Fprint(conn, strings.NewReplacer("HOST", host, "PORT", port).Replace(
				"iWelcome to the library\t\tHOST\tPORT\r\n0About this "+
					"server\t/about\tHOST\tPORT\r\n1Books\t/books\tHOST\tPORT\r\n7Search the "+
					"catalogue\t/find\tHOST\tPORT\r\n.\r\n"))
			_ = conn.Close()
		}
	})
	return "gopher://" + listener.Addr().String() + "/"
}
