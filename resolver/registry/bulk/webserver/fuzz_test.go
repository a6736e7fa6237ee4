package webserver

import (
	"slices"
	"strings"
	"testing"
)

// checkItems checks that items are sorted by line, and that each has its required fields.
func checkItems(t *testing.T, items []Item, lines int) {
	t.Helper()
	if !slices.IsSortedFunc(items, func(a, b Item) int { return int(a.Line - b.Line) }) {
		t.Error("the items are not in the order of their lines")
	}
	for _, i := range items {
		if i.Line < 1 || i.Line > int64(lines) || i.Err == nil && i.Entry.Name == "" {
			t.Errorf("%+v is not an item of %d lines", i, lines)
		}
	}
}

// FuzzApache checks that any configuration of Apache makes valid items.
func FuzzApache(f *testing.F) {
	for _, text := range []string{
		"RewriteEngine on\nRewriteBase /b/\nRewriteRule ^a/(.*)$ https://t.example/$1 [R=303,L]\nRewriteRule " +
			"^(.+?)/?$ /x [R,NC]\n",
		"RewriteEngine on\nRewriteCond %{HTTP_ACCEPT} text/turtle [OR]\nRewriteCond %{HTTP_USER_AGENT} " +
			"^Mozilla\nRewriteRule ^$ https://t.example/#x [NE,L]\nRewriteRule ^ https://t.example/ [L]\n",
		"<VirtualHost *:80>\nServerName a.example\n<IfModule mod_rewrite.c>\nRewriteEngine on\nRewriteRule ^/a - " +
			"[G]\n</IfModule>\nRedirect gone /b\n</VirtualHost>\n",
		"RedirectMatch 301 \"^/b/(a|b)$\" https://t.example/$1?x\nRedirect /b/c https://t.example\n<Files " +
			"x>\nRewriteRule !a b [C]\n</Files>\n",
		"RewriteEngine on\nRewriteRule ^\\d{2,3}[^/\\s]+(\\.ttl)?$ http://t.example/%{REQUEST_URI}$0 [S=1,QSD]\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		items, err := Apache(strings.NewReader(text), "https://a.example/b/")
		if err == nil {
			checkItems(t, items, strings.Count(text, "\n")+1)
		}
	})
}

// FuzzNginx checks that any configuration of nginx makes valid items.
func FuzzNginx(f *testing.F) {
	for _, text := range []string{
		"map $request_uri $m { default \"\"; /a https://t.example/a; ~*^/b/(?<c>.*)$ https://t.example/$c; " +
			"}\nserver { if ($m) { return 301 $m; } }",
		"server { server_name a.example; location = /a { return 302 https://t.example/; } location ~ ^/(.+)$ { " +
			"rewrite ^ https://t.example/$1? permanent; } }",
		"geo $d { default \"$\"; } server { location ^~ /a { location /a/b { return 410; } } location / { " +
			"proxy_pass http://b; } rewrite ^/x(/.*)?$ /y$1 redirect; }",
		"server { if ($http_accept ~* 'text/(turtle|html)') { return 303 https://t.example$uri$is_args$args; } if " +
			"($host != a) { break; } }",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, base := range []string{"https://a.example", ""} {
			items, err := Nginx(strings.NewReader(text), base)
			if err == nil {
				checkItems(t, items, strings.Count(text, "\n")+1)
			}
		}
	})
}

// FuzzPattern compares the routes of a regular expression with the paths that it matches.
func FuzzPattern(f *testing.F) {
	for _, text := range []string{
		"^a$", "^(v1|v2)/s$", "^a/(.*)$", "^a(/.*)?$", "^[ab]c?$", "^a/([0-9]+)/?$",
		"(?i)^A$", "^a\\.b$", "^a/(?P<rest>.+)$", "a|^b$", "^a.b", "\\bx",
	} {
		f.Add(text, "a/b")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		p, err := newPattern(text, "/d/", false)
		if err != nil || strings.ContainsAny(path, "\x00\n") {
			return
		}
		for _, r := range p.routes {
			if !r.prefix && !p.MatchString(latin1(strings.TrimPrefix(r.path, "/d/"))) {
				t.Errorf("%q does not match %q", text, r.path)
			}
		}
		has := slices.ContainsFunc(p.routes,
			func(r route) bool { return r.prefix && r.lang.has("/d/"+path) || r.path == "/d/"+path })
		if p.MatchString(latin1(path)) && !has {
			t.Errorf("%q matches %q, which is in none of its routes", text, path)
		}
	})
}
