package uri

import "strings"

// WAIS is the part of a "wais" URL after its authority: RFC 1738 section 3.9. It names a database, a search in
// it, or a document of it. All fields are decoded.
type WAIS struct {
	Database  string
	Search    string
	HasSearch bool
	Type      string // type of a document; "" if the URL names none
	Path      string
}

var ruleWAIS = newRule("wais", "waisurl", "RFC 1738 section 5",
	"a wais URL is database, database?search or database/type/path")

var ruleWAISPath = newRule("wais_path", "wpath", "RFC 1738 section 5",
	"the path of a wais document is one segment: a slash in it is percent-encoded")

// WAIS returns the parts of a "wais" URL. The error is a *ParseError.
func (u URI) WAIS() (WAIS, error) {
	if !u.hasScheme("wais") {
		return WAIS{}, failure(u.s, 0, RuleOtherScheme)
	}
	if err := u.checkServerNoUser(); err != nil {
		return WAIS{}, err
	}
	path := u.Path()
	if len(path) < 2 {
		return WAIS{}, failure(u.s, u.queryStart(), ruleWAIS)
	}
	parts := strings.SplitN(path[1:], "/", 3)
	search, hasSearch := u.Query()
	w := WAIS{Database: decode(parts[0]), Search: decode(search), HasSearch: hasSearch}
	switch {
	case w.Database == "":
		return WAIS{}, failure(u.s, u.pathStart()+1, ruleWAIS)
	case len(parts) == 2 || len(parts) == 3 && (parts[1] == "" || parts[2] == "" || hasSearch):
		return WAIS{}, failure(u.s, u.pathStart()+1+len(parts[0]), ruleWAIS)
	case len(parts) == 3:
		if i := strings.IndexByte(parts[2], '/'); i >= 0 {
			return WAIS{}, failure(u.s, u.queryStart()-len(parts[2])+i, ruleWAISPath)
		}
		w.Type, w.Path = decode(parts[1]), decode(parts[2])
	}
	return w, nil
}
