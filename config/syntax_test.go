package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestSyntax: errors in TOML files, or in files of another encoding, have a line and a suggestion.
func TestSyntax(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{
			"urnd.toml", "[proxy]\nconnect_ports = [0443]\n",
			"urnd.toml:2: 0443 begins with 0, like an octal number: write 443",
		},
		{
			"urnd.toml", "[proxy]\nconnect_ports = [80, 0o443]\n",
			"urnd.toml:2: proxy.connect_ports.1: 0o443 is not a decimal number: write 291",
		},
		{
			"urnd.toml", "[limits]\nconnections = 0x10\n",
			"urnd.toml:2: limits.connections: 0x10 is not a decimal number: write 16",
		},
		{"urnd.toml", "[site]\n\nname = \"a\"\nname = \"b\"\n", "urnd.toml:4: key name is already defined"},
		{"urnd.toml", "[site]\nname = \"a\"\n[dns]\n[site]\n", "urnd.toml:4: table site already exists"},
		{"urnd.toml", "[site]\nname = Library\n", `urnd.toml:2: texts are in quotes in TOML: write name = "Library"`},
		{
			"urnd.toml", "[dns]\ntimeout = 5s # a while\n",
			`urnd.toml:2: texts are in quotes in TOML: write timeout = "5s"`,
		},
		{
			"urnd.toml", "[listen]\nnames = [*.example.org]\n",
			`urnd.toml:2: texts are in quotes in TOML: write "*.example.org"`,
		},
		{
			"urnd.toml", "[site]\nname: \"Library\"\n",
			`urnd.toml:2: TOML uses = in place of the colon after the name of a setting: write name = "Library"`,
		},
		{"urnd.toml", "[site]\n\n\nname = “Library”\n", `urnd.toml:4: “ is not a quotation mark in TOML`},
		{"urnd.toml", "[site]\nname\u00a0= 'Library'\n", "urnd.toml:2: there is a no-break space (U+00A0)"},
		{
			"urnd.toml", "[[namespaces]]\nnid = 'a'\npattern = \"\\d\"\n",
			`urnd.toml:3: \d in double quotes is not a valid escape in TOML`,
		},
		{
			"urnd.toml", "[access]\nadmin_token = s3cr3t\n",
			"urnd.toml:2: texts are in quotes in TOML: write … = \"…\"; the line is not shown",
		},
		{"urnd.toml", "[site\nname = 'a'\n", "urnd.toml:1: expected character ]"},
		{
			"urnd.toml", "[site]\n\nname = 'B\xfccher'\n",
			"urnd.toml:3: the byte 0xfc is not UTF-8, but probably Latin-1 (Windows-1252)",
		},
		{
			"urnd.yaml", "site:\n  # gr\xfc\xdfe\n  name: a\n",
			"urnd.yaml:2: the byte 0xfc is not UTF-8, but probably Latin-1 (Windows-1252): save the file as UTF-8 " +
				"(iconv -f",
		},
		{"urnd.yaml", "\xff\xfed\x00:\x00", "urnd.yaml:1: the file is in UTF-16: save it as UTF-8"},
	} {
		_, err := config.Load(write(t, tt.name, tt.text), nil)
		if err == nil || !strings.Contains(lines(err), tt.want) || strings.Count(err.Error(), "\n") > 0 ||
			strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
}

// TestSyntaxHidesSecrets requires that no part of a line which may contain a secret is shown, for each setting
// that may hold one by mistake.
func TestSyntaxHidesSecrets(t *testing.T) {
	values := []string{
		"&s3cr3t foo", "&s3cr3t", "*s3cr3t", "[*s3cr3t]", "!s3cr3t", "!s3cr3t foo", "{s3cr3t}", "{+s3cr3t}",
		"{s3cr3t, a}", "{s3cr3t: }", "%s3cr3t", "%s3cr3t # c", "@s3cr3t", "`s3cr3t`", "s3cr3t: x", "s3cr3t: x # c",
		"\"a\\ds3cr3t\"", "'a's3cr3t'", "[s3cr3t", "{s3cr3t, {x", "“s3cr3t”", "\u00a0s3cr3t", "{“s3cr3t”: x}",
		"{s3cr3t, s3cr3t}", "{s3cr3t}x", "s3cr3t, {a\n   x: [", "|\n  s3cr3t", "s3cr3t\n      x: 1",
	}
	names := make(map[string]string)
	for _, s := range slices.Concat(config.Settings(), config.Elements()) {
		if s.Secret {
			names[s.Path] = s.Path[strings.LastIndexByte(s.Path, '.')+1:]
		}
	}
	if len(names) < 10 {
		t.Fatalf("%d settings", len(names))
	}
	for path, name := range names {
		section, _, _ := strings.Cut(path, ".")
		for i, value := range values {
			if path != "registry.password" && path != "proxy.upstreams.*.password" && i%4 != 0 {
				continue // tests all values for some settings, and some values for all
			}
			for _, text := range []string{
				inYAML(path, value), strings.ToUpper(name[:1]) + name[1:] + ": " + value,
				fmt.Sprintf("%s:\n  %q: %s\n", section, name, value),
				section + ":\n  " + name + ":\n\n    # here\n    " + value + "\n",
				fmt.Sprintf("%s: {%s: %s, x: y}\n", section, name, value),
			} {
				hides(t, "urnd.yaml", text)
			}
			for _, text := range []string{
				section + "." + name + " = " + value, "[" + section + "]\n" + name + "=" + value + " # c\n",
				"[" + section + "]\n" + name + ": " + value, section + " = {" + name + " = " + value + "}\n",
				"[" + section + "]\n\"" + strings.ToUpper(name) + "\" = [\n" + value + ",\n]\n",
			} {
				hides(t, "urnd.toml", text)
			}
		}
	}
	for name, text := range map[string]string{
		"urnd.yaml": "access: {admin_token: foo, s3cr3t, fresh_clients: []}\n",
		"urnd.toml": "registry.password = s3cr3t\n",
		"c.toml":    "[cache]\nshared_secret = s3cr3t\n",
		"a.toml":    "[access]\nadmin_token = 0xs3cr3t\n",
		"b.yaml":    "registry:\n  store: 'postgres://u:x'\n  password: {a: 1, s3cr3t: 1, s3cr3t: 2}\n",
	} {
		hides(t, name, text)
	}
	if _, err := config.Load(write(t, "urnd.toml", "[cache]\nshared_key = 0x123456\n"), nil); err == nil ||
		strings.Contains(err.Error(), "123456") {
		t.Errorf("a number: %v", err)
	}
}

// inYAML returns a setting with a value, with each component of its path on its own line.
func inYAML(path, value string) string {
	var text strings.Builder
	indent := ""
	for part := range strings.SplitSeq(path, ".") {
		if part == "*" {
			text.WriteString("\n" + indent[2:] + "- x: y")
			continue
		}
		if text.Len() > 0 {
			text.WriteString("\n")
		}
		text.WriteString(indent + part + ":")
		indent += "  "
	}
	return text.String() + " " + value + "\n"
}

func hides(t *testing.T, name, text string) {
	t.Helper()
	_, err := config.Load(write(t, name, text), nil)
	if err != nil && strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("%q: %v", text, err)
	}
}

// TestParagraphs: a YAML block scalar ends with a line feed, which is not part of the text.
func TestParagraphs(t *testing.T) {
	for _, sign := range []string{">", "|"} {
		text := "proxy:\n  rules:\n    - id: a\n      action: deny\n      reason: " + sign +
			"\n        Ask at the desk.\nsite:\n  name: " + sign + "\n    Library\n"
		c, err := config.Load(write(t, "urnd.yaml", text), nil)
		if err != nil || c.Proxy.Rules[0].Reason != "Ask at the desk." || c.Site.Name != "Library" {
			t.Errorf("%s: %+v, %v", sign, c.Proxy.Rules, err)
		}
	}
}

// TestSyntaxHints: a byte order mark, used anchors, quotations in texts and no-break spaces between words are
// valid.
func TestSyntaxHints(t *testing.T) {
	for name, text := range map[string]string{
		"a.toml": "\ufeff[dns]\ntimeout = \"5s\"\n",
		"b.yaml": "\ufeffdns:\n  timeout: 5s\n",
		"c.yaml": "access:\n  proxy_clients: &lan [10.0.0.0/8]\n  fresh_clients: *lan\n",
		"d.yaml": "site:\n  texts:\n    - {language: de, welcome: „Hier“ finden Sie, name: Bücher & mehr}\n    - " +
			"{language: fr, welcome: Bienvenue\u00a0!}\n",
		"h.yaml": "site:\n  name: ’s-Gravenhage\n  texts:\n    - {language: de, welcome: Kontakt:\u00a0Frau Muster}\n",
		"i.yaml": "access:\n  proxy_clients: &lan [10.0.0.0/8]\n",
		"e.yaml": "site:\n  name: '“Library”'\n",
		"f.yaml": "limits: {rate: 0}\nresolve: {unknown_status: 404}\nproxy: {connect_ports: [443, 8000-8999]}\n",
		"g.yaml": "dns: &short\n  timeout: 5s\nthttp:\n  <<: *short\n",
	} {
		if _, err := config.Load(write(t, name, text), nil); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestOctalVariables: octal numbers are rejected in the environment, too.
func TestOctalVariables(t *testing.T) {
	t.Setenv("URND_LIMITS_CONNECTIONS", "0777")
	t.Setenv("URND_PROXY_CONNECT_PORTS", "443,0444")
	t.Setenv("URND_LIMITS_RATE", "0x8")
	t.Setenv("URND_DNS_ROUNDS", "-01")
	_, err := config.Load("", nil)
	for _, want := range []string{
		"URND_LIMITS_CONNECTIONS: limits.connections: 0777 begins with 0",
		"URND_PROXY_CONNECT_PORTS: proxy.connect_ports.1: 0444 begins with 0",
		"limits.rate: 0x8 is not a decimal number: write 8", "-01 begins with 0, like an octal number: write -1",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
