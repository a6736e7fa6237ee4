package ddds

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver"
)

// savedRecords is the encoding of a record set or a negative answer, for processes that share it.
type savedRecords struct {
	NAPTR     []NAPTR         `json:"naptr,omitempty"`
	SRV       []SRV           `json:"srv,omitempty"`
	Addresses []netip.Addr    `json:"addresses,omitempty"`
	Authentic bool            `json:"authentic,omitempty"`
	Negative  json.RawMessage `json:"negative,omitempty"`
}

// EncodeRecords returns the encoding of a record set or a negative answer for another process, and whether it
// may be shared.
func EncodeRecords(r Records, failure error) ([]byte, bool) {
	saved := savedRecords{NAPTR: r.naptr, SRV: r.srv, Addresses: r.addrs, Authentic: r.authentic}
	if failure != nil {
		negative, ok := resolver.EncodeNegative(failure)
		if !ok {
			return nil, false
		}
		saved = savedRecords{Negative: negative}
	}
	for _, n := range r.naptr { // JSON cannot represent character-strings with arbitrary bytes
		if !utf8.ValidString(n.Flags) || !utf8.ValidString(n.Services) || !utf8.ValidString(n.Regexp) ||
			!utf8.ValidString(n.Replacement) {
			return nil, false
		}
	}
	for _, s := range r.srv {
		if !utf8.ValidString(s.Target) {
			return nil, false
		}
	}
	text, err := json.Marshal(saved)
	return text, err == nil
}

// DecodeRecords decodes the result of EncodeRecords: a record set, or a negative answer as failure, which gets
// the TTL. err reports invalid input.
func DecodeRecords(text []byte, ttl time.Duration) (r Records, failure, err error) {
	var saved savedRecords
	if err := json.Unmarshal(text, &saved); err != nil {
		return r, nil, fmt.Errorf("reading shared records: %w", err)
	}
	if saved.Negative != nil {
		_, failure, err = resolver.DecodeOutcome(saved.Negative, ttl)
		return r, failure, err
	}
	return Records{naptr: saved.NAPTR, srv: saved.SRV, addrs: saved.Addresses, authentic: saved.Authentic}, nil, nil
}
