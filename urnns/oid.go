package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var (
	ruleOID = uri.Rule{
		Code: "oid", Name: "oid", Section: "RFC 3061 section 2",
		Requirement: "an OID is numbers without leading zeros, joined by dots",
	}
	ruleOIDArcs = uri.Rule{
		Code: "oid_arcs", Name: "oid", Section: "X.660",
		Requirement: "an OID begins with 0, 1 or 2, and below 0 and 1 the second number is at most 39",
	}
)

// checkOID checks an OID: RFC 3061, and X.660 for the first two arcs.
func checkOID(nss string) (int, uri.Rule) {
	at := 0
	arcs := strings.Split(nss, ".")
	for _, arc := range arcs {
		for i := range len(arc) {
			if !isDigit(arc[i]) {
				return at + i, ruleOID
			}
		}
		if arc == "" || len(arc) > 1 && arc[0] == '0' {
			return at, ruleOID
		}
		at += len(arc) + 1
	}
	if len(arcs[0]) > 1 || arcs[0] > "2" {
		return 0, ruleOIDArcs
	}
	if len(arcs) > 1 && arcs[0] < "2" && (len(arcs[1]) > 2 || len(arcs[1]) == 2 && arcs[1] > "39") {
		return 2, ruleOIDArcs
	}
	return 0, uri.Rule{}
}
