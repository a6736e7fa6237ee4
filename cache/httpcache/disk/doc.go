// Package disk stores objects in files: bodies that may be large, each with a head. It
// knows nothing of HTTP: a key is a text, a head is opaque, and a key may have several
// objects.
//
// A file is written under a temporary name and renamed, so that it is whole or absent
// after a crash. It is never synced: what a power failure leaves is found by the
// checksums, and is missing. A file has, in this order, with little-endian integers:
//
//	body     its octets
//	sums     4 octets for each slice of 1 MiB of the body, the last may be shorter: CRC-32C
//	unused   what Replace has left, at most two trailers
//	key
//	head
//	magic    "urnd", then the version in 2 octets: 1, then 2 octets: 0
//	lengths  of the body in 8 octets, of the key in 4, of the head in 4
//	sum      of sums, in 4 octets: CRC-32C
//	sum      of all from the key to here, in 4 octets: CRC-32C
//
// Key to sum are the trailer. It ends where the name of the file says; what follows
// counts for nothing. Replace writes another trailer beside the one in force and renames
// the file: the renaming is the replacement, and no body is copied. CRC-32C is used
// because it finds every burst of up to 32 bits, processors compute it, and the standard
// library has it; it protects against faults, not against who may write to the directory.
//
// The file HASH-ID-LENGTH is in one of 4096 directories, named after the first 12 bits of
// HASH: the first 128 bits of the SHA-256 of the key. ID begins with the time of its
// creation, LENGTH is the end of the trailer; all are hexadecimal. So the names alone make
// the index, and a Get in a directory that is not indexed yet indexes it.
package disk
