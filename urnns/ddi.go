package urnns

import (
	"slices"
	"strings"
)

// reversedAgency returns the identifier of the agency, such as "us.mpc", as a domain, with its parts in reverse
// order: agencies are delegated below ddi.urn.arpa (RFC 9517).
func reversedAgency(nss string) string {
	agency, _, _ := strings.Cut(nss, ":")
	parts := strings.Split(agency, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}
