package urnns

import "github.com/urnd/urnd/uri"

// check is what urnd knows of the names of a namespace that data cannot say.
// The zero check knows nothing.
type check struct {
	// verify returns the offset in an NSS as written and the rule that is
	// broken there, or the zero Rule.
	verify func(nss string) (offset int, rule uri.Rule)
	// exact begins, in any case, the NSSs whose case counts behind their
	// first colon, whatever the fold of the namespace is.
	exact string
	// others returns other canonical NSSs of what a canonical NSS names.
	others func(nss string) []string
	// thing returns one canonical NSS of what a canonical NSS names, where
	// the namespace has several for one thing.
	thing func(nss string) string
}

// lookupCheck returns the check of a name, as rows refer to it.
func lookupCheck(name string) (check, bool) {
	switch name {
	case "":
		return check{}, true
	case "eidr":
		return check{verify: checkEIDR}, true
	case "ietf": // RFC 2648 section 2 gives no name a case, but RFC 3553 section 3 compares parameters exactly
		return check{verify: checkIETF, exact: "params:"}, true
	case "isan":
		return check{verify: checkISAN}, true
	case "isbn":
		return check{verify: checkISBN, thing: isbn13, others: otherISBN}, true
	case "issn":
		return check{verify: checkISSN}, true
	case "lei":
		return check{verify: checkLEI}, true
	case "nbn":
		return check{verify: checkNBN}, true
	case "oid":
		return check{verify: checkOID}, true
	case "uuid":
		return check{verify: checkUUID}, true
	default:
		return check{}, false
	}
}
