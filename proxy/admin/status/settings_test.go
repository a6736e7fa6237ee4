package status_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/proxy/pages"
)

// show returns the body of a page in English.
func show(t testing.TB, target string, c status.Config) string {
	t.Helper()
	return showIn(t, pages.New(pages.Site{}).In(pages.English), target, c)
}

// showIn returns the body of a page in a language.
func showIn(t testing.TB, in pages.Writer, target string, c status.Config) string {
	t.Helper()
	return served(t, pagesOf(c), in, target)
}

// pagesOf returns the pages of a configuration without Show.
func pagesOf(c status.Config) []page.Page {
	c.Show = page.Writer{Design: pages.New(pages.Site{}).Standalone()}.Show
	return status.Pages(c)
}

// served returns the body of one of the pages in a language.
func served(t testing.TB, all []page.Page, in pages.Writer, target string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	for _, p := range all {
		if p.Path != r.URL.Path {
			continue
		}
		reply, err := p.Serve(&page.Request{Request: r, Panel: pages.Panel{Path: p.Path, Address: target, Writer: in}})
		if err != nil {
			t.Fatal(err)
		}
		return string(reply.Body)
	}
	t.Fatalf("no %s", target)
	return ""
}

// settings returns a configuration in two sections.
func settings() []status.Section {
	dns := status.Section{Name: "dns", Doc: "How DNS servers are asked.", Settings: []status.Setting{
		{
			Path: "dns.timeout", Doc: "the time for an answer", Value: "5s",
			Origin: status.Origin{From: status.FromFile, Name: "/etc/urnd/urnd.yaml:12"}, Default: "2s", IsSet: true,
		},
		{Path: "dns.servers", Doc: "the servers to ask", Value: "[]", Origin: status.Origin{From: status.FromDefault}},
	}}
	access := status.Section{Name: "access", Doc: "Who may do what.", Settings: []status.Setting{
		{
			Path: "access.admin_token", Doc: "a file with the token <of> administrators", Value: "credential:admin",
			Origin:  status.Origin{From: status.FromEnvironment, Name: "URND_ACCESS_ADMIN_TOKEN", Credential: "admin"},
			Default: `""`, IsSet: true,
		},
		{
			Path: "access.cors", Doc: "sites", Value: `["` + strings.Repeat("https://a.example/<&>", 50),
			Origin: status.Origin{From: status.FromDefault}, IsSet: false,
		},
	}}
	access.Settings[1] = access.Settings[1].Cut()
	return []status.Section{dns, access}
}

// By default the settings that are not the default are shown, otherwise the result of a query.
func TestSettings(t *testing.T) {
	shown := func(query string) (paths, body string) {
		body = show(t, "/config"+query, status.Config{Settings: settings})
		var all []string
		for _, part := range strings.Split(body, "<dt")[1:] {
			_, path, _ := strings.Cut(part, "<code>")
			path, _, _ = strings.Cut(path, "</code>")
			all = append(all, path)
		}
		return strings.Join(all, " "), body
	}
	for _, tt := range []struct {
		query, want, in string
	}{
		{"", "dns.timeout access.admin_token", "2 set here"},
		{"?section=dns", "dns.timeout dns.servers", "How DNS servers are asked."},
		{"?section=none", "", `Section <code dir="auto">none</code>`},
		{"?q=SERVERS+ask", "dns.servers", "1 found"},
		{"?q=urnd.yaml:12", "dns.timeout", "file /etc/urnd/urnd.yaml:12; the default is <code dir=\"auto\">2s</code>"},
		{"?q=credential+admin", "access.admin_token", "environment URND_ACCESS_ADMIN_TOKEN, credential admin"},
		{"?q=%22%3E%3Cscript%3E", "", `value="&#34;&gt;&lt;script&gt;"`},
		{"?q=" + strings.Repeat("%C3%A4", 1000), "", "0 found"},
	} {
		if got, body := shown(tt.query); got != tt.want || !strings.Contains(body, tt.in) {
			_, body, _ = strings.Cut(body, "<main")
			t.Errorf("%+v: %q, want %q; %s is in %s", tt.query, got, tt.want, tt.in, body)
		}
	}
	many := make([]status.Section, 30)
	for i := range many {
		many[i] = status.Section{Name: fmt.Sprint("section", i), Doc: strings.Repeat("&", 300)}
		for range 30 {
			many[i].Settings = append(many[i].Settings,
				status.Setting{
					Path: fmt.Sprintf("section%d.name", i), Value: strings.Repeat("<", 4000),
					Doc: strings.Repeat("'", 500), IsSet: true,
				}.Cut())
		}
	}
	const most = 30_000
	c := status.Config{Settings: func() []status.Section { return many }}
	if body := show(t, "/config?q=sssssss", c); len(body) > most {
		t.Errorf("%d bytes", len(body))
	}
	if body := show(t, "/config", c); len(body) > most || !strings.Contains(body, "not shown") {
		t.Errorf("%d bytes: %.3000s", len(body), body)
	}
}
