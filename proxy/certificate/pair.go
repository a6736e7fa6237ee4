package certificate

import (
	"crypto/tls"
	"fmt"
	"os"
)

// Files are the paths of a certificate chain, leaf first, and of its key, in PEM.
type Files struct {
	Setting          string // name of the setting, for messages
	Certificate, Key string
}

// pair is a certificate loaded from files. The mutex of its Set guards it.
type pair struct {
	files   Files
	loaded  *tls.Certificate
	seen    [2]os.FileInfo
	failure error // error of the last read; nil for success
}

// read reads the files if they have changed, and reports whether there is a new certificate. While the files
// are invalid, such as half written, the previous certificate stays in use.
func (p *pair) read() (isNew bool) {
	var found [2]os.FileInfo
	for i, path := range []string{p.files.Certificate, p.files.Key} {
		if info, err := os.Stat(path); err == nil {
			found[i] = info
		}
	}
	if p.loaded != nil && unchanged(found[0], p.seen[0]) && unchanged(found[1], p.seen[1]) {
		p.failure = nil
		return false
	}
	loaded, err := tls.LoadX509KeyPair(p.files.Certificate, p.files.Key)
	if err != nil {
		p.failure = fmt.Errorf("%s: %w", p.files.Setting, err)
		return false
	}
	p.loaded, p.seen, p.failure = &loaded, found, nil
	return true
}

// unchanged reports whether the metadata of a file is unchanged.
func unchanged(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
