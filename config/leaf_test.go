package config_test

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/urnd/urnd/config"
)

// TestEveryLeaf requires that each setting can be set by the file, the environment and a flag, in rising
// precedence.
func TestEveryLeaf(t *testing.T) {
	for _, s := range config.Settings() {
		section, leaf, isLeaf := strings.Cut(s.Path, ".")
		if !isLeaf || len(s.Elements) > 0 { // a list of tables has no text form
			continue
		}
		t.Run(s.Path, func(t *testing.T) {
			value := valuesOf(t, s)
			text := value[0]
			if reflect.TypeOf(config.Default().Map()[section].(map[string]any)[leaf]).Kind() == reflect.Slice {
				text = "[" + text + "]"
			}
			if strings.HasPrefix(text, "#") { // it would be a comment without quotes
				text = "'" + text + "'"
			}
			file := section + ":\n  " + leaf + ": " + text + "\n"
			switch s.Path { // these require another setting
			case "acme.enabled":
				file += "listen: {names: [a.example]}\n"
			case "listen.tls":
				file += "tls: {certificate: a, key: b}\n"
			case "registry.health_interval":
				file += "  health_contact: a@a.example\n"
			case "site.sitemap":
				file += "listen: {public_url: 'https://a.example'}\n"
			case "cache.shared":
				file += "  shared_key: /a\n"
			case "tls.client_ca":
				file += "  certificate: a\n  key: b\n"
			}
			path := write(t, "urnd.yaml", file)
			check := func(what, want string, flags map[string]any) {
				t.Helper()
				c, err := config.Load(path, flags)
				if err != nil {
					t.Errorf("by %s: %v", what, err)
					return
				}
				if got := print(t, c, section, leaf); got != want {
					t.Errorf("by %s: %s, want %s", what, got, want)
				}
			}
			if print(t, config.Default(), section, leaf) == value[0] || value[0] == value[1] && value[1] == value[2] {
				t.Errorf("%q do not show a difference", value)
			}
			check("file", value[0], nil)
			t.Setenv("URND_"+strings.ToUpper(section+"_"+leaf), value[1])
			check("environment", value[1], nil)
			check("flag", value[2], map[string]any{s.Path: value[2]})
		})
	}
}

// valuesOf returns values for the file, the environment and a flag, by the type, the allowed words or the form
// of a setting.
func valuesOf(t *testing.T, s config.Setting) (all [3]string) {
	t.Helper()
	section, leaf, _ := strings.Cut(s.Path, ".")
	byDefault := config.Default().Map()[section].(map[string]any)[leaf]
	if values, ok := ownValues()[s.Path]; ok {
		return values
	}
	if len(s.OneOf) > 0 {
		is := func(word string) bool { return word == print(t, config.Default(), section, leaf) }
		words := slices.DeleteFunc(slices.Clone(s.OneOf), is)
		return [...]string{words[0], words[len(words)-1], s.OneOf[0]}
	}
	if values, ok := formValues()[s.Form]; ok {
		return values
	}
	if is, isSwitch := byDefault.(bool); isSwitch {
		return [...]string{strconv.FormatBool(!is), strconv.FormatBool(!is), strconv.FormatBool(is)}
	}
	for i := range all {
		switch v := byDefault.(type) {
		case int:
			all[i] = plain(t, beside(v, s.Least.(int)+i, s.Least.(int)+len(all)))
		case time.Duration:
			all[i] = plain(t, beside(v, s.Least.(time.Duration)+time.Duration(i)*time.Second,
				s.Least.(time.Duration)+time.Minute/2))
		case config.Size:
			all[i] = plain(t, beside(v, s.Least.(config.Size)+config.Size(i)<<10, s.Least.(config.Size)+1<<20))
		default:
			t.Fatalf("no values have the form %q", s.Form)
		}
	}
	return all
}

// beside returns value, or other if value is the default.
func beside[T comparable](byDefault, value, other T) T {
	if value == byDefault {
		return other
	}
	return value
}

func plain(t *testing.T, value any) string {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// ownValues has the values of settings whose checks depend on others, or are stricter than their type or form.
func ownValues() map[string][3]string {
	return map[string][3]string{
		"access.admin_clients":     {"127.0.0.0/16", "127.0.0.1/32,::1/128", "127.0.0.2/32"},
		"access.admin_proxies":     {"127.0.0.0/16", "127.0.0.1/32,::1/128", "127.0.0.2/32"},
		"access.security_contact":  {"mailto:a@a.example", "https://b.example/contact", "mailto:c@c.example"},
		"cache.shared_timeout":     {"6ms", "7ms", "8ms"},
		"cache.responses":          {"129MiB", "130MiB", "131MiB"},
		"limits.header":            {"15KiB", "16KiB", "17KiB"},
		"limits.memory":            {"324MiB", "325MiB", "326MiB"},
		"proxy.spelling":           {"exact", "redirect", "normal"},
		"registry.health_interval": {"1h0m0s", "2h0m0s", "3h0m0s"},
		"resolve.order":            {"namespace", "namespace,ddds", "ddds"},
		"urn.accept":               {"rfc8141", "rfc2141,draft", "draft"},
	}
}

// formValues has the values of texts, and of lists of texts, by Setting.Form.
func formValues() map[string][3]string {
	names := [...]string{"a.example", "b.example,c.example", "d.example"}
	return map[string][3]string{
		"URI template": {
			"https://a.example/{+urn}", "https://b.example/{+urn}",
			"https://c.example/{+urn}",
		},
		"URL or mail address": {"https://a.example/", "mailto:b@b.example", "c@c.example"},
		"absolute path":       {"/a", "/b,/c", "/d"},
		"https:// and a path": {
			"https://a.example/dir", "https://b.example/dir",
			"https://c.example/d",
		},
		"mail address":                        {"a@a.example", "b@b.example", "c@c.example"},
		"address range":                       {"10.0.0.0/8", "10.1.0.0/16,::1/128", "10.2.0.0/16"},
		"domain name":                         names,
		"time zone name of the IANA database": {"Europe/Berlin", "UTC", "Asia/Shanghai"},
		"media type, with * for any text":     {"text/html", "text/*,image/svg+xml", "application/*+json"},
		"field name":                          {"A-Cache-Control", "B-Cache-Control,CDN-Cache-Control", "C"},
		"URL": {
			"https://a.example/purge", "https://a.example/b,http://c.example/d",
			"https://e.example",
		},
		"host name":    names,
		"host:port":    {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"},
		"language tag": {"de", "en-GB", "fr"},

		"prefix of handles":        {"20.500.1", "20.500.2", "10.5555"},
		"prefix of a name":         {"urn:a:", "hdl:20.500.1/", "doi:10.5555/"},
		"relation type (RFC 8288)": {"describedby", "license", "https://a.example/rel"},

		"text": {"a", "b", "c"},

		"IP address, with or without port": {"192.0.2.1:427", "192.0.2.2:1", "192.0.2.4:427"},
		`"*", or http:// or https:// and a host`: {
			"https://a.example",
			"https://b.example,http://c.example:81", "*",
		},
		"prefix of canonical names": {"urn:a:", "urn:b:,urn:c:", "urn:d:"},
		"host:port, or https:// and one": {
			"a.example:1", "b.example:1,https://c.example:2",
			"d.example:3",
		},
		"host:port, or tls:// and one": {
			"a.example:119", "b.example:1,tls://c.example:2",
			"d.example:3",
		},
		"host:port, or unix: and a path": {
			"127.0.0.1:1", "unix:/run/urnd/admin.sock",
			"127.0.0.1:3",
		},
		"http:// or https:// and a host": {
			"http://a.example", "https://b.example",
			"http://c.example:4318",
		},
		"http:// or https://, a host and optionally a path": {
			"http://a.example", "https://b.example/urn",
			"http://c.example:8141",
		},
		"path that begins with a slash":           {"/a", "/b", "/c"},
		"path, or credential: and a name":         {"/a", "credential:b", "/c"},
		"port, or two joined by a hyphen":         {"1-2", "3-4,5-6", "7-8"},
		"postgres:// URL":                         {"postgres://a/b", "postgres://c/d", "postgres://e/f"},
		"path":                                    {"/a", "b", "/c"},
		"colour, such as '#0645ad'":               {"#000001", "#00000a", "#ABCDEF"},
		"identifier":                              {"urn:a1:b", "urn:a1:b,urn:a1:c", "doi:10.1000/1"},
		"URI, such as mailto:library@example.org": {"mailto:a@a.example", "https://a.example/", "tel:1"},

		"IP address, with or without port, or tls:// and one": {
			"192.0.2.1:53", "192.0.2.2:53,[2001:db8::1]:53",
			"192.0.2.3:5353",
		},
		"host name, or a name with all below it (.example.org)": {"a.example", ".b.example,c.example", "192.0.2.1"},
		"field name, or a prefix of names with * at its end":    {"x-a-*", "x-b-*,x-c", "x-d"},
		"prefix of keys":                         {"a", "b", "c"},
		"redis:// or rediss:// URL":              {"redis://a", "rediss://b/1", "redis://c"},
		"sqlite: and a path, or postgres:// URL": {"sqlite:/a", "sqlite:/b", "postgres://c/d"},
	}
}

// print returns the value of a setting as in the environment.
func print(t *testing.T, c config.Config, section, leaf string) string {
	t.Helper()
	text, err := yaml.Marshal(c.Map()[section].(map[string]any)[leaf])
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(string(text)), "- "), "\n- ", ",")
	return strings.Trim(strings.ReplaceAll(joined, `'`, ""), `"`)
}
