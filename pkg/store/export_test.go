package store

// Sizes that a test gives a bucket instead of defaultSizes, so that it sends less. Chunks are
// multiples of 256 KiB.
const (
	Chunk = 256 << 10
	Part  = 2 * Chunk
)

// Shrink has a bucket send objects as if they were larger.
func Shrink(s Store) {
	if gs, ok := s.(*gsStore); ok {
		gs.sizes = sizes{part: Part, chunk: Chunk}
	}
}
