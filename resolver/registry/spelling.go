package registry

import "github.com/urnd/urnd/uri"

// below returns the name whose rest, after the prefix that it was found by, its target gets: what does not count when names are
// compared, as the hyphens of an ARK, may count there, so that it is as it was asked for.
func (r resolved) below() string {
	if r.spelling == "" {
		return r.name
	}
	if rest, ok := restOf(r.spelling, r.entry.Name); ok {
		return r.entry.Name + rest
	}
	return r.name
}

// restOf returns what follows a canonical prefix in a spelling of a name.
func restOf(spelling, prefix string) (string, bool) {
	const end = "0"                          // a name has at least one character after its prefix
	most := 2*len(prefix) + len("%E2%80%90") // who sends more that does not count has no claim to it
	for i := 1; i < min(len(spelling), most); i++ {
		if !isDelimiter(spelling[i-1]) {
			continue
		}
		if u, err := uri.Parse(spelling[:i] + end); err == nil && u.Name().String() == prefix+end {
			return spelling[i:], true
		}
	}
	return "", false
}
