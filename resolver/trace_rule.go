package resolver

import "time"

// Rule is a rule of the DDDS (RFC 3403 section 4.1) as it was applied to a name, for pages that show a step. The zero value of a field says
// nothing.
type Rule struct {
	Domain                              string        // whose record it is
	TTL                                 time.Duration // of its record set
	Order, Preference                   uint16
	Flags, Services, Regexp, Substitute string // Substitute is the field REPLACEMENT
	Use                                 RuleUse
	Matched                             string // what its expression matched of the name
	Result                              string // the domain or the location that it leads to
	Reason                              string // why it was not used, in English
	Why                                 string // the code of Reason
}

// RuleUse is whether a rule was used.
type RuleUse uint8

// The uses of rules. The zero value is of one that cannot be used for the name.
const (
	RuleSkipped  RuleUse = iota
	RulePossible         // it can be used, behind the one that is
	RuleUsed
)
