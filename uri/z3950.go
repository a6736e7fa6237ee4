package uri

import "strings"

// Z3950 is the part of a "z39.50s" or "z39.50r" URL after its authority: RFC 2056 section 4. The former opens a
// session with databases of a server, the latter retrieves one document of them. All fields are decoded.
type Z3950 struct {
	Databases  []string // nil for none; a "z39.50r" URL has at least one
	DocID      string   // name of a document on the server; "" for none
	ElementSet string   // elements of the document to retrieve, such as "F"; "" for the server's choice
	Syntaxes   []string // record syntaxes, preferred first; nil for the server's choice
}

var (
	ruleZ3950Names = newRule("z3950_database", "database", "RFC 2056 section 4",
		"names of databases are joined by a plus and not empty; a slash in "+
			"one is percent-encoded")
	ruleZ3950DocID = newRule("z3950_document", "docid", "RFC 2056 section 4",
		"a z39.50r URL names a document, after a question mark")
	ruleZ3950Param = newRule("z3950_parameter", "z39.50url", "RFC 2056 section 4",
		"after a semicolon stands esn=elementset or, after that, "+
			"rs=recordsyntax+recordsyntax")
)

// Z3950 returns the parts of a "z39.50s" or "z39.50r" URL. The error is a *ParseError.
func (u URI) Z3950() (Z3950, error) {
	retrieval := u.hasScheme("z39.50r")
	if !retrieval && !u.hasScheme("z39.50s") {
		return Z3950{}, failure(u.s, 0, RuleOtherScheme)
	}
	if err := u.checkServerNoUser(); err != nil {
		return Z3950{}, err
	}
	path, at, err := u.pathText()
	if err != nil {
		return Z3950{}, err
	}
	if path != "" {
		path, at = path[1:], at+1
	}
	rest, parameters, hasParameters := strings.Cut(path, ";")
	names, docID, hasDocID := strings.Cut(rest, "?")
	var z Z3950
	if names != "" || hasDocID {
		if i := strings.IndexByte(names, '/'); i >= 0 {
			return Z3950{}, failure(u.s, at+i, ruleZ3950Names)
		}
		var bad int
		if z.Databases, bad = plusList(names); bad >= 0 {
			return Z3950{}, failure(u.s, at+bad, ruleZ3950Names)
		}
	}
	if docID == "" && (retrieval || hasDocID) {
		return Z3950{}, failure(u.s, at+len(rest), ruleZ3950DocID)
	}
	z.DocID = decode(docID)
	if hasParameters {
		if bad := z.setParameters(parameters); bad >= 0 {
			return Z3950{}, failure(u.s, at+len(rest)+1+bad, ruleZ3950Param)
		}
	}
	return z, nil
}

// setParameters sets the fields from the parameters after the first semicolon. It returns the offset of an
// error, or -1.
func (z *Z3950) setParameters(s string) int {
	at := 0
	for part := range strings.SplitSeq(s, ";") {
		name, value, _ := strings.Cut(part, "=")
		switch {
		case value == "" || z.Syntaxes != nil:
			return at
		case EqualFold(name, "esn") && z.ElementSet == "":
			z.ElementSet = decode(value)
		case EqualFold(name, "rs"):
			var bad int
			if z.Syntaxes, bad = plusList(value); bad >= 0 {
				return at + len("rs=") + bad
			}
		default:
			return at
		}
		at += len(part) + 1
	}
	return -1
}

// plusList returns the decoded names that are joined by a plus, or the offset of an empty name. bad is -1 if
// there is none.
func plusList(s string) (names []string, bad int) {
	at := 0
	for part := range strings.SplitSeq(s, "+") {
		if part == "" {
			return nil, at
		}
		names = append(names, decode(part))
		at += len(part) + 1
	}
	return names, -1
}
