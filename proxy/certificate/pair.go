package certificate

import (
	"crypto/tls"
	"fmt"
	"os"
)

// Files are the paths of a certificate, followed by those of its issuers, and of its key, in PEM.
type Files struct {
	Setting          string // by which the administrator has named them, for messages
	Certificate, Key string
}

// pair is a certificate in files. The lock of its Set guards it.
type pair struct {
	files  Files
	loaded *tls.Certificate
	seen   [2]os.FileInfo
	fault  error // of the files when they were last read
}

// read reads the files if they have changed, and reports whether there is another certificate. What was read before
// stays while they are invalid: they may be half written.
func (p *pair) read() (isNew bool) {
	var found [2]os.FileInfo
	for i, path := range []string{p.files.Certificate, p.files.Key} {
		if info, err := os.Stat(path); err == nil {
			found[i] = info
		}
	}
	if p.loaded != nil && unchanged(found[0], p.seen[0]) && unchanged(found[1], p.seen[1]) {
		p.fault = nil
		return false
	}
	loaded, err := tls.LoadX509KeyPair(p.files.Certificate, p.files.Key)
	if err != nil {
		p.fault = fmt.Errorf("%s: %w", p.files.Setting, err)
		return false
	}
	p.loaded, p.seen, p.fault = &loaded, found, nil
	return true
}

// unchanged reports whether a file was not changed, as far as its metadata tells.
func unchanged(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
