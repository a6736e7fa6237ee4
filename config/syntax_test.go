package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// What is wrong with a file of TOML, or in another encoding, has its line and what to write.
func TestSyntax(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"urnd.toml", "[proxy]\nconnect_ports = [0443]\n", "urnd.toml:2: 0443 begins with 0, as octal numbers do: write 443"},
		{"urnd.toml", "[proxy]\nconnect_ports = [80, 0o443]\n", "urnd.toml:2: proxy.connect_ports.1: 0o443 is not a decimal number: write 291"},
		{"urnd.toml", "[limits]\nconnections = 0x10\n", "urnd.toml:2: limits.connections: 0x10 is not a decimal number: write 16"},
		{"urnd.toml", "[site]\n\nname = \"a\"\nname = \"b\"\n", "urnd.toml:4: key name is already defined"},
		{"urnd.toml", "[site]\nname = \"a\"\n[dns]\n[site]\n", "urnd.toml:4: table site already exists"},
		{"urnd.toml", "[site]\nname = Library\n", `urnd.toml:2: texts are in quotes in TOML: write name = "Library"`},
		{"urnd.toml", "[dns]\ntimeout = 5s # a while\n", `urnd.toml:2: texts are in quotes in TOML: write timeout = "5s"`},
		{"urnd.toml", "[listen]\nnames = [*.example.org]\n", `urnd.toml:2: texts are in quotes in TOML: write "*.example.org"`},
		{"urnd.toml", "[site]\nname: \"Library\"\n", `urnd.toml:2: TOML has = and no colon behind the name of a setting: write name = "Library"`},
		{"urnd.toml", "[site]\n\n\nname = “Library”\n", `urnd.toml:4: “ is no quotation mark of TOML`},
		{"urnd.toml", "[site]\nname\u00a0= 'Library'\n", "urnd.toml:2: there is a no-break space (U+00A0)"},
		{"urnd.toml", "[[namespaces]]\nnid = 'a'\npattern = \"\\d\"\n", `urnd.toml:3: \d in double quotes is an escape that TOML does not have`},
		{"urnd.toml", "[access]\nadmin_token = s3cr3t\n", "urnd.toml:2: the value cannot be read: write it in single quotes; it is not shown"},
		{"urnd.toml", "[site\nname = 'a'\n", "urnd.toml:1: expected character ]"},
		{"urnd.toml", "[site]\n\nname = 'B\xfccher'\n", "urnd.toml:3: the byte 0xfc is not of UTF-8, but probably of Latin-1"},
		{"urnd.yaml", "site:\n  # gr\xfc\xdfe\n  name: a\n", "urnd.yaml:2: the byte 0xfc is not of UTF-8, but probably of Latin-1 (Windows-1252): save the file as UTF-8"},
		{"urnd.yaml", "\xff\xfed\x00:\x00", "urnd.yaml:1: the file is in UTF-16: save it as UTF-8"},
	} {
		_, err := config.Load(write(t, tt.name, tt.text), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), "\n") > 0 || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
}

// A byte order mark, anchors that are used, quotations in texts and no-break spaces between words are what they look like.
func TestSyntaxIsMeant(t *testing.T) {
	for name, text := range map[string]string{
		"a.toml": "\ufeff[dns]\ntimeout = \"5s\"\n",
		"b.yaml": "\ufeffdns:\n  timeout: 5s\n",
		"c.yaml": "access:\n  proxy_clients: &lan [10.0.0.0/8]\n  fresh_clients: *lan\n",
		"d.yaml": "site:\n  texts:\n    - {language: de, welcome: „Hier“ finden Sie, name: Bücher & mehr}\n    - {language: fr, welcome: Bienvenue\u00a0!}\n",
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

// Octal numbers are refused in the environment, too.
func TestOctalVariables(t *testing.T) {
	t.Setenv("URND_LIMITS_CONNECTIONS", "0777")
	t.Setenv("URND_PROXY_CONNECT_PORTS", "443,0444")
	_, err := config.Load("", nil)
	for _, want := range []string{"URND_LIMITS_CONNECTIONS: limits.connections: 0777 begins with 0", "URND_PROXY_CONNECT_PORTS: proxy.connect_ports.1: 0444 begins with 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
