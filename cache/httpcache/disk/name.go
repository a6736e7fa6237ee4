package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// digest is the prefix of the SHA-256 of a key that names its files. Finding two keys with the same digest is
// infeasible.
type digest [16]byte

func digestOf(key string) digest {
	sum := sha256.Sum256([]byte(key))
	return digest(sum[:len(digest{})])
}

// directories is the number of directories with objects.
const directories = 1 << 12

// directory returns the directory number of a key.
func (d digest) directory() int { return int(d[0])<<4 | int(d[1])>>4 }

// directoryName returns the name of a directory: three hexadecimal digits, except for incoming.
func directoryName(number int) string {
	if number == incomingNumber {
		return incoming
	}
	return strconv.FormatInt(int64(directories+number), 16)[1:]
}

// parseDirectoryName is the inverse of directoryName.
func parseDirectoryName(name string) (number int, ok bool) {
	n, err := strconv.ParseUint(name, 16, 12)
	return int(n), err == nil && directoryName(int(n)) == name
}

// name identifies a file.
type name struct {
	digest digest
	id     uint64 // seconds since 1970 and a random number, 32 bits each
	length int64  // the end of its trailer
}

func (n name) String() string {
	return hex.EncodeToString(n.digest[:]) + "-" + strconv.FormatUint(n.id, 16) + "-" + strconv.FormatInt(n.length, 16)
}

// path returns the path of the file.
func (n name) path() path { return path{n.digest.directory(), n.String()} }

// parseName is the inverse of String.
func parseName(text string) (name, bool) {
	var n name
	hash, rest, _ := strings.Cut(text, "-")
	id, length, _ := strings.Cut(rest, "-")
	raw, err := hex.DecodeString(hash)
	if err != nil || len(raw) != len(n.digest) {
		return name{}, false
	}
	n.digest = digest(raw)
	if n.id, err = strconv.ParseUint(id, 16, 64); err != nil {
		return name{}, false
	}
	if n.length, err = strconv.ParseInt(length, 16, 64); err != nil {
		return name{}, false
	}
	return n, n.length >= footerSize && n.length <= maxFile && n.String() == text
}
