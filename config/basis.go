package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Contents is a set of what outlives a reload, or a restart, for as long as the settings that it rests on do
// not change. The zero value says nothing.
type Contents uint8

// What a setting can invalidate.
const (
	Records   Contents = 1 << iota // the cache of DNS record sets
	Answers                        // the cache of answers
	Snapshot                       // answers that are saved, and used after a restart
	Responses                      // the cache of HTTP responses in memory
	Disk                           // that on disk, which is used after a restart
	Store                          // the open store of the registry, and what is counted for it
	Nothing                        // stands alone
)

// Basis identifies the settings that contents rest on: where it is the same for two configurations, what was
// made by one may be used by the other, also in another process.
func (c Config) Basis(of Contents) string {
	values, sum := leaves(c), sha256.New()
	for _, s := range Settings() {
		if s.invalidates(of) && !s.IsSection() {
			fmt.Fprintf(sum, "%s %#v\n", s.Path, Plain(withTables(values[s.Path]))) // texts are quoted
		}
	}
	const enough = 16 // octets
	return hex.EncodeToString(sum.Sum(nil)[:enough])
}

// invalidates reports whether a change of s throws contents away: any, where it is not declared.
func (s Setting) invalidates(of Contents) bool { return s.Invalidates == 0 || s.Invalidates&of != 0 }
