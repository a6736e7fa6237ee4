// Package disk stores objects in files: bodies that may be large, each with a head. A key, a body as a stream
// and a head enter by Create and Writer; Read and Open return them, verified by checksums, until they are
// removed or evicted within a budget of bytes. It implements no RFC and does not depend on HTTP: keys and heads
// are opaque, and a key may have several objects.
//
// A file is written under a temporary name and renamed, so that it is complete or absent after a crash. It is
// never synced: the checksums detect what a power failure damaged, and such an object is a miss. A file has, in
// this order, with little-endian integers:
//
//	body     its bytes
//	sums     4 bytes for each slice of 1 MiB of the body, the last may be shorter: CRC-32C
//	unused   left by Replace, at most two trailers
//	key
//	head
//	magic    "urnd", then the version in 2 bytes: 1, then 2 bytes: 0
//	lengths  of the body in 8 bytes, of the key in 4, of the head in 4
//	sum      of sums, in 4 bytes: CRC-32C
//	sum      from the key to here, in 4 bytes: CRC-32C
//
// Key to sum are the trailer. It ends at the length in the name of the file; bytes behind it are ignored.
// Replace writes another trailer beside the current one and renames the file: the renaming is the replacement,
// and no body is copied. CRC-32C is used because it detects every burst error of up to 32 bits, processors have
// an instruction for it, and the standard library implements it; it protects against errors, not against
// attackers who can write to the directory.
//
// The file HASH-ID-LENGTH is in one of 4096 directories, named after the first 12 bits of HASH: the first 128
// bits of the SHA-256 of the key. ID begins with its creation time, LENGTH is the end of the trailer; all are
// hexadecimal. So the names alone are enough for the index, and Read indexes the directory of its key if
// necessary.
package disk
