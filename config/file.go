package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// checkRoots refuses also the directories that have devices and the secrets of processes, or contain these.
func checkRoots(f *Faults, path string, value any) {
	roots, _ := value.([]string)
	for i, root := range roots {
		switch {
		case !filepath.IsAbs(root):
			f.Add(index(path, i), "%q is not an absolute path such as /srv/documents", root)
		case filepath.Clean(root) != root:
			f.Add(index(path, i), "%q is not an absolute path in its shortest form: write %s", root, filepath.Clean(root))
		case root == "/":
			f.Add(index(path, i), "%q is all of this machine: name the directories to serve", root)
		case slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(system string) bool { return isBelow(root, system) }):
			f.Add(index(path, i), "%q has no documents, but devices and the state of processes", root)
		}
	}
}

// warnOfRoots warns of files of urnd itself below a root, which all clients can read then.
func warnOfRoots(f *Faults, roots []string, values map[string]any) {
	own := []string{"/etc/urnd", "/var/lib/urnd"} // of the packages
	for _, s := range Settings() {
		if name, ok := values[s.Path].(string); ok && strings.HasPrefix(s.Form, "path") || strings.HasPrefix(name, "sqlite:") {
			if name = strings.TrimPrefix(name, "sqlite:"); filepath.IsAbs(name) {
				own = append(own, filepath.Clean(name))
			}
		}
	}
	slices.Sort(own)
	for i, root := range roots {
		for _, name := range slices.Compact(own) {
			if isBelow(name, root) || isBelow(root, name) {
				f.Add(index("file.roots", i), "all clients of the proxy can read what urnd has in %s", name)
			}
		}
	}
}

// isBelow reports whether a clean path is a directory, or in it.
func isBelow(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, strings.TrimSuffix(directory, "/")+"/")
}
