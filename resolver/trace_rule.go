package resolver

import "time"

// Rule is a DDDS rule (RFC 3403 section 4.1) with the outcome of its application to a name, for pages that show
// a step. The zero value of a field means unknown.
type Rule struct {
	Domain                              string        // owner name of the record
	TTL                                 time.Duration // TTL of the record set
	Order, Preference                   uint16
	Flags, Services, Regexp, Substitute string // Substitute is the field REPLACEMENT
	Use                                 RuleUse
	Matched                             string // part of the name that the expression matched
	Result                              string // resulting domain or location
	Reason                              string // why it was not used, in English
	ReasonCode                          string // code of Reason
}

// RuleUse is the outcome of applying a rule.
type RuleUse uint8

// The zero value means that the rule cannot be used for the name.
const (
	RuleSkipped  RuleUse = iota
	RulePossible         // usable, but another rule precedes it
	RuleUsed
)
