package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Hash returns a hash of the settings that instances of one service have in common: those of one configuration have the same.
// Addresses and directories, which may be those of one instance alone, are left out, and so are secrets, which are in files.
func (c Config) Hash() string {
	c.Listen = Listen{}
	c.Cache.Directory, c.Cache.DiskDirectory = "", ""
	c.Log.AccessFile = ""
	text, err := json.Marshal(Plain(c.Map())) // keys are sorted
	if err != nil {
		return "unknown: " + err.Error()
	}
	sum := sha256.Sum256(text)
	const enough = 8 // octets, to tell configurations apart
	return hex.EncodeToString(sum[:enough])
}
