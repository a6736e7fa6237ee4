// Package body streams the bodies of responses to clients. Bodies enter from origins, from memory or from disk;
// they leave as Content, to several clients concurrently and at the pace of each, while they are stored. Ranges are
// those of RFC 9110 section 14, including multipart/byteranges.
package body
