package platform

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// Text returns the text of a file in UTF-8, without a byte order mark. A mark may say that it is UTF-16, which > of Windows
// PowerShell writes.
func Text(text []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	case !bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		return bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	units := make([]uint16, 0, len(text)/2)
	for text = text[2:]; len(text) > 1; text = text[2:] {
		units = append(units, order.Uint16(text))
	}
	return []byte(string(utf16.Decode(units)))
}
