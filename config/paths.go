package config

import (
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/urnd/urnd/config/source"
)

// suggest returns the known key most similar to an unknown one, "" if none is similar.
func suggest(unknown string) string {
	indexes := slices.DeleteFunc(strings.Split(unknown, "."),
		func(part string) bool { return withAnyIndex(part) != anyIndex })
	wanted := withAnyIndex(unknown)
	best, distance := "", 1+max(2, len(wanted)/5)
	for _, known := range keysOf("", reflect.TypeFor[Config]()) {
		d := levenshtein.ComputeDistance(wanted, known)
		if strings.HasPrefix(known, wanted) && strings.Contains(wanted, ".") { // such as tls.cert
			d = min(d, 2)
		}
		if d < distance && strings.Count(known, anyIndex) == len(indexes) {
			best, distance = known, d
		}
	}
	for _, i := range indexes {
		best = strings.Replace(best, anyIndex, i, 1)
	}
	return best
}

// settingForDirective returns what to write in place of a directive of Squid or nginx; "" for other keys.
func settingForDirective(key string) string {
	for _, row := range []struct{ keys, instead string }{
		{
			"http_port https_port http server",
			"write the addresses to listen on in listen.service, and those for TLS in listen.tls",
		},
		{"cache_mem proxy_cache cache.memory cache.size", "write cache.responses, the memory for HTTP responses"},
		{"cache_dir proxy_cache_path", "write cache.disk, a size, and cache.disk_directory"},
		{"acl http_access", "write the networks of clients in access.proxy_clients, and access rules in proxy.rules"},
		{"cache_peer", "write proxy.upstreams"},
		{"upstream proxy_pass location", "write the hosts of the site, its servers and paths in proxy.sites"},
		{"visible_hostname server_name", "write listen.names"},
		{"ssl_certificate ssl_certificate_key", "write tls.certificate and tls.key"},
		{"access_log error_log", "write log.access, a list whose entries have format and file, and log.level"},
		{
			"logformat log_format LogFormat CustomLog",
			"write a template in format of an entry of log.access, after apache: or squid:",
		},
		{"dns_nameservers resolver", "write dns.servers"},
		{"worker_processes workers", "delete it: all processors are always used"},
		{"include", "write all settings into one file"},
	} {
		if slices.Contains(strings.Fields(row.keys), key) {
			return row.instead
		}
	}
	return ""
}

// anyIndex stands for any index of a list in a path.
const anyIndex = "*"

// keysOf returns the paths of all settings in a type, including sections.
func keysOf(prefix string, t reflect.Type) []string {
	var keys []string
	for key := range fieldsOf(prefix, t) {
		keys = append(keys, key)
	}
	return keys
}

// fieldsOf yields the paths and fields of all settings in a type, including sections.
func fieldsOf(prefix string, t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for field := range t.Fields() {
			key, below := prefix+field.Tag.Get("mapstructure"), field.Type
			if !yield(key, field) {
				return
			}
			if below.Kind() == reflect.Slice {
				key, below = key+"."+anyIndex, below.Elem()
			}
			if !isSection(below) {
				continue
			}
			for inner, field := range fieldsOf(key+".", below) {
				if !yield(inner, field) {
					return
				}
			}
		}
	}
}

// mayHoldSecret reports whether the value at a path is, is within, or contains a setting that may hold a secret
// by mistake, even if its section is missing or wrong.
func mayHoldSecret(path string) bool {
	path = withAnyIndex(path)
	if names := secretNames(); slices.ContainsFunc(strings.Split(path, "."),
		func(part string) bool { return names[part] }) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(Settings(), Elements()), func(s Setting) bool {
		return s.Secret && (path == s.Path || strings.HasPrefix(path, s.Path+".") ||
			strings.HasPrefix(s.Path, path+"."))
	})
}

// secretNames returns the last path components of the settings that may hold a secret by mistake.
func secretNames() map[string]bool {
	names := make(map[string]bool)
	for _, s := range slices.Concat(Settings(), Elements()) {
		if s.Secret {
			names[s.Path[strings.LastIndexByte(s.Path, '.')+1:]] = true
		}
	}
	return names
}

// withoutSecretKeys truncates paths after a setting that may hold a secret by mistake: keys below it may be the
// secret.
func withoutSecretKeys(paths ...string) []string {
	names, all := secretNames(), make([]string, len(paths))
	for n, path := range paths {
		parts := strings.Split(path, ".")
		if i := slices.IndexFunc(parts, func(part string) bool { return names[part] }); i >= 0 {
			parts = parts[:i+1]
		}
		all[n] = strings.Join(parts, ".")
	}
	return slices.Compact(all)
}

// withAnyIndex replaces the indexes in a path by "*", as in declarations.
func withAnyIndex(path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			parts[i] = anyIndex
		}
	}
	return strings.Join(parts, ".")
}

// isTable reports whether there are settings below a path.
func isTable(path string) bool {
	above := withAnyIndex(path) + "."
	return slices.ContainsFunc(keysOf("", reflect.TypeFor[Config]()),
		func(key string) bool { return strings.HasPrefix(key, above) })
}

// isOfTexts reports whether a setting is a text, or a list of texts.
func isOfTexts(path string) bool {
	path = strings.TrimSuffix(withAnyIndex(path), "."+anyIndex)
	for key, field := range fieldsOf("", reflect.TypeFor[Config]()) {
		if key == path {
			t := field.Type
			return t.Kind() == reflect.String || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String
		}
	}
	return false
}

// schemaOfFiles returns what package source needs to know of the settings.
func schemaOfFiles() source.Schema {
	return source.Schema{SecretNames: secretNames(), MayHoldSecret: mayHoldSecret, IsTable: isTable, IsText: isOfTexts}
}
