package wais_test

import (
	"bytes"
	"errors"
	"io"
	"net"

	ber "github.com/go-asn1-ber/asn1-ber"

	"github.com/urnd/urnd/resolver/schemetest"
)

const (
	peerSUTRS = "1.2.840.10003.5.101"
	peerGIF   = "1.2.840.10003.5.109.5"
)

func contextual(tag ber.Tag, parts ...*ber.Packet) *ber.Packet {
	p := ber.Encode(ber.ClassContext, ber.TypeConstructed, tag, nil, "")
	for _, part := range parts {
		p.AppendChild(part)
	}
	return p
}

func integer(tag ber.Tag, n int) *ber.Packet {
	return ber.NewInteger(ber.ClassContext, ber.TypePrimitive, tag, n, "")
}

func boolean(tag ber.Tag, is bool) *ber.Packet {
	return ber.NewLDAPBoolean(ber.ClassContext, ber.TypePrimitive, tag, is, "")
}

func stringOf(tag ber.Tag, s string) *ber.Packet {
	return ber.NewString(ber.ClassContext, ber.TypePrimitive, tag, s, "")
}

func objectID(id string) *ber.Packet {
	return ber.NewOID(ber.ClassUniversal, ber.TypePrimitive, ber.TagObjectIdentifier, id, "")
}

func initResponse(accept bool) *ber.Packet {
	return contextual(21, stringOf(3, "\x05\xe0"), stringOf(4, "\x06\xc0"), integer(5, 1<<20), integer(6, 1<<20),
		boolean(12, accept),
		stringOf(111, "peer"), stringOf(112, "1.0"))
}

func searchResponse(count int) *ber.Packet {
	return contextual(23, integer(23, count), integer(24, 0), integer(25, 1), boolean(22, true))
}

// child returns the first element in p with a tag, or nil.
func child(p *ber.Packet, tag ber.Tag) *ber.Packet {
	for _, c := range p.Children {
		if c.ClassType == ber.ClassContext && c.Tag == tag {
			return c
		}
	}
	return ber.NewSequence("")
}

func number(p *ber.Packet) int {
	n, err := ber.ParseInt64(p.Data.Bytes())
	if err != nil {
		return 0
	}
	return int(n)
}

// serve responds to requests: a search for "body" finds one record, any other the names.
func serve(conn net.Conn, s *schemetest.Server) {
	isBody := false
	for {
		request, err := ber.ReadPacket(conn)
		if err != nil {
			return
		}
		switch request.Tag {
		case 20:
			_, err = conn.Write(initResponse(true).Bytes())
		case 22:
			count := len(s.Names)
			if isBody = bytes.Contains(request.Data.Bytes(), []byte("body")); isBody {
				count = 1
			}
			_, err = conn.Write(searchResponse(count).Bytes())
		case 24:
			err = present(conn, s, isBody, number(child(request, 30)), number(child(request, 29)))
		default:
			return
		}
		if err != nil {
			return
		}
	}
}

// Head of a response with records, in indefinite lengths: PresentResponse, its fields, its records.
const (
	presentHead = "\xb9\x80\x98\x01\x01\x99\x01\x00\x9b\x01\x00\xbc\x80"
	presentTail = "\x00\x00\x00\x00"
	recordHead  = "\x30\x80\xa1\x80\xa1\x80\x28\x80" // NamePlusRecord, record, retrievalRecord, EXTERNAL
	recordTail  = "\x00\x00\x00\x00\x00\x00\x00\x00"
)

// present writes records incrementally, because the body may be endless.
func present(w io.Writer, s *schemetest.Server, isBody bool, first, count int) error {
	if _, err := io.WriteString(w, presentHead); err != nil {
		return err
	}
	if isBody {
		if err := presentBody(w, s); err != nil {
			return err
		}
	} else {
		for i := max(first, 1); i < first+count && i <= len(s.Names); i++ {
			if count == 1 && s.Requested != nil {
				s.Requested(s.Names[i-1])
			}
			text := contextual(0, ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagGeneralString,
				s.Names[i-1], ""))
			if _, err := io.WriteString(w,
				recordHead+string(objectID(peerSUTRS).Bytes())+string(text.Bytes())+recordTail); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(w, presentTail)
	return err
}

func presentBody(w io.Writer, s *schemetest.Server) error {
	if _, err := io.WriteString(w, recordHead+string(objectID(peerGIF).Bytes())+"\xa1\x80"); err != nil {
		return err
	}
	body, part := s.Body(), make([]byte, 4096)
	for {
		n, err := body.Read(part)
		if n > 0 {
			byteCount := ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, string(part[:n]), "")
			if _, err := w.Write(byteCount.Bytes()); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			_, err = io.WriteString(w, "\x00\x00"+recordTail)
			return err
		}
		if err != nil {
			return err
		}
	}
}
