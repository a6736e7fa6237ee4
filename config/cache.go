package config

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// checkUnkeyedFields rejects invalid field names, and names for which the cache has rules.
func checkUnkeyedFields(f *Diagnostics, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		stem, isPrefix := strings.CutSuffix(name, "*")
		switch folded := strings.ToLower(strings.ReplaceAll(stem, "_", "-")); {
		case !httpguts.ValidHeaderFieldName(stem) || strings.Contains(stem, "*"):
			f.Add(index(path, i),
				"%q is not a field name, or a prefix of names with * at its end (RFC 9110 section 5.1)", name)
		case isPrefix && len(stem) < 3:
			f.Add(index(path, i), "%q matches too many fields: write at least three characters before *", name)
		case standsFor(handledFields[:], folded, isPrefix), isPrefix && strings.HasPrefix("content-type", folded):
			// Content-Type alone may be listed.
			f.Add(index(path, i), "%q is handled by the cache itself (RFC 9111), and cannot be unkeyed", name)
		}
	}
}

// handledFields are request fields that select a response which others must not get.
var handledFields = [...]string{
	"authorization", "cookie", "host", "range", "if-range", "if-match", "if-none-match", "if-modified-since",
	"if-unmodified-since", "cache-control", "pragma", "origin",
}

// standsFor reports whether a name is in names, or with isPrefix a prefix of any.
func standsFor(names []string, name string, isPrefix bool) bool {
	return slices.ContainsFunc(names,
		func(one string) bool { return one == name || isPrefix && strings.HasPrefix(one, name) })
}

// decidingFields are fields by which frameworks and proxies of origins override the method, the URI, the host
// or the client of a request, besides all x-forwarded-* and all that end with -override.
var decidingFields = [...]string{
	"forwarded", "x-forwarded-", "x-real-ip", "x-http-method", "x-http-method-override", "x-method-override",
	"x-host", "x-original-host", "x-original-url", "x-rewrite-url",
}

// isDeciding reports whether a field often affects the response of an origin, so that a response to it would be
// stored for all clients.
func isDeciding(_ checked, name string) bool {
	stem, isPrefix := strings.CutSuffix(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "*")
	return standsFor(decidingFields[:], stem, isPrefix) || strings.HasPrefix(stem, "x-forwarded-") ||
		strings.HasSuffix(stem, "-override")
}

func checkDirectory(f *Diagnostics, path string, value any) {
	if directory, _ := value.(string); directory != "" && !strings.HasPrefix(directory, "/") {
		f.Add(path, "%q does not begin with a slash", directory)
	}
}

// checkShared checks the URL of the shared cache server, without showing a password.
func checkShared(f *Diagnostics, path string, value any) {
	text, _ := value.(string)
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"redis", "rediss", "valkey", "valkeys"}, u.Scheme) ||
		u.Hostname() == "" {
		f.Add(path,
			"is not a URL that begins with redis:// or rediss:// and names a server; its value is not shown, since "+
				"it may contain a password")
		return
	}
	if _, has := u.User.Password(); has {
		f.Add(path, "contains a password, which others can read in the configuration: put it into a file, and set "+
			"cache.shared_password to its path")
	}
	if database := strings.TrimPrefix(u.Path, "/"); database != "" {
		if n, err := strconv.Atoi(database); err != nil || n < 0 {
			f.Add(path, "%q after the server is not a database number", database)
		}
	}
	for name := range u.Query() {
		if name != "addr" && name != "master_set" {
			f.Add(path, "has the unknown parameter %q: addr and master_set are allowed", name)
		}
	}
}

// checkSharedPrefix checks that a prefix can be the hash tag of keys.
func checkSharedPrefix(f *Diagnostics, path string, value any) {
	const most = 64
	text, _ := value.(string)
	isOther := func(c rune) bool {
		return !strings.ContainsRune("-_.:", c) && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}
	if text == "" || len(text) > most || strings.ContainsFunc(text, isOther) {
		f.Add(path, "%q must have at most %d characters: letters, digits and - _ . :", text, most)
	}
}

// TagsOff is the value of cdn.tags that disables cache tags.
const TagsOff = "off"

// checkWebhooks checks URLs without showing them, because they may contain secrets.
func checkWebhooks(f *Diagnostics, path string, value any) {
	list, _ := value.([]string)
	for i, text := range list {
		if !isWebURL(text) {
			f.Add(index(path, i),
				"is not a URL with http:// or https://, a host and no user; its value is not shown, since it may "+
					"have a secret")
		}
	}
}

// checkRoots checks the served directories. It also rejects those that contain, or are below, /proc, /sys and
// /dev, which have devices and secrets of processes.
func checkRoots(f *Diagnostics, path string, value any) {
	roots, _ := value.([]string)
	for i, root := range roots {
		switch {
		case !filepath.IsAbs(root):
			f.Add(index(path, i), "%q is not an absolute path such as /srv/documents", root)
		case filepath.Clean(root) != root:
			f.Add(index(path, i), "%q is not an absolute path in its shortest form: write %s", root,
				filepath.Clean(root))
		case root == "/":
			f.Add(index(path, i), "%q is the whole file system: name the directories to serve", root)
		case slices.ContainsFunc([]string{"/proc", "/sys", "/dev"},
			func(system string) bool { return isBelow(root, system) }):
			f.Add(index(path, i), "%q has no documents, but devices and process state", root)
		}
	}
}

// warnOfRoots warns of files of urnd itself in a served directory, which all clients could read.
func warnOfRoots(f *Diagnostics, roots []string, values map[string]any) {
	own := []string{"/etc/urnd", "/var/lib/urnd"} // directories of the packages
	for _, s := range Settings() {
		if name, ok := values[s.Path].(string); ok && strings.HasPrefix(s.Form, "path") ||
			strings.HasPrefix(name, "sqlite:") {
			if name = strings.TrimPrefix(name, "sqlite:"); filepath.IsAbs(name) {
				own = append(own, filepath.Clean(name))
			}
		}
	}
	slices.Sort(own)
	for i, root := range roots {
		for _, name := range slices.Compact(own) {
			if isBelow(name, root) || isBelow(root, name) {
				f.Add(index("file.roots", i), "all clients of the proxy can read the files of urnd in %s", name)
			}
		}
	}
}

// isBelow reports whether a clean path is a directory or below it.
func isBelow(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, strings.TrimSuffix(directory, "/")+"/")
}

func checkEndpoint(f *Diagnostics, path string, value any) {
	if endpoint, _ := value.(string); endpoint != "" {
		checkServer(f, path, endpoint)
	}
}
