package joblist

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// protobufMark begins the protobuf answers of an API server.
const protobufMark = "k8s\x00"

// The field numbers of messages that hold a list: runtime.Unknown, and any list inside it.
const (
	fieldRaw      = 2
	fieldListMeta = 1
	fieldItems    = 2
	// lengthDelimited is the wire type of all of them.
	lengthDelimited = 2
)

// unmarshaler is an object that can be decoded from protobuf.
type unmarshaler interface {
	runtime.Object
	Unmarshal(data []byte) error
}

// newItem returns an empty item of a list, nil for kinds that protobuf is not used for.
func newItem(list runtime.Object) unmarshaler {
	switch list.(type) {
	case *batchv1.JobList:
		return &batchv1.Job{}
	case *corev1.PodList:
		return &corev1.Pod{}
	case *corev1.EventList:
		return &corev1.Event{}
	case *corev1.NodeList:
		return &corev1.Node{}
	case *metav1.PartialObjectMetadataList:
		return &metav1.PartialObjectMetadata{}
	}
	return nil
}

// Detail says how much of each item is read.
type Detail bool

const (
	// Whole items have all of their fields.
	Whole Detail = false
	// Slim items lack fields that no list shows.
	Slim Detail = true
)

// ReadItems calls each with every item of a list that a server sends, and returns the list's
// metadata. It decodes protobuf one item at a time: for thousands of jobs, the whole list
// took ten times the memory of what is kept. list is an empty list of the right kind. A
// truncated list is io.ErrUnexpectedEOF.
func ReadItems(body io.Reader, decoder runtime.Decoder, list runtime.Object, detail Detail,
	each func(runtime.Object)) (metav1.ListInterface, error) {
	r := bufio.NewReader(body)
	begin, err := r.Peek(len(protobufMark))
	if err == nil && string(begin) == protobufMark && newItem(list) != nil {
		return readProtobuf(r, func() unmarshaler { return newItem(list) }, detail, each)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if _, _, err := decoder.Decode(data, nil, list); err != nil {
		return nil, err
	}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		each(o)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return meta.ListAccessor(list)
}

func readProtobuf(r *bufio.Reader, item func() unmarshaler, detail Detail,
	each func(runtime.Object)) (*metav1.ListMeta, error) {
	if _, err := r.Discard(len(protobufMark)); err != nil {
		return nil, err
	}
	about := &metav1.ListMeta{}
	var buf bytes.Buffer
	complete := false
	err := eachField(r, func(field int, size int64) error {
		if field != fieldRaw {
			_, err := io.CopyN(io.Discard, r, size)
			return err
		}
		complete = true
		list := &io.LimitedReader{R: r, N: size}
		fields := bufio.NewReader(list)
		err := eachField(fields, func(field int, size int64) error {
			buf.Reset()
			if _, err := io.CopyN(&buf, fields, size); err != nil {
				return err
			}
			switch field {
			case fieldListMeta:
				return about.Unmarshal(buf.Bytes())
			case fieldItems:
				o, data := item(), buf.Bytes()
				if detail == Slim {
					data = slim(o, data)
				}
				if err := o.Unmarshal(data); err != nil {
					return err
				}
				each(o)
			}
			return nil
		})
		if err == nil && list.N > 0 {
			return io.ErrUnexpectedEOF
		}
		return err
	})
	if err == nil && !complete {
		err = io.ErrUnexpectedEOF
	}
	return about, err
}

// field is a field of a protobuf message, or the fields inside it.
type field struct {
	number protowire.Number
	inside []field
}

// unseen has what no list shows of an object, of a Job, and of a pod: see slim.
var unseen = func() (of struct{ object, job, pod []field }) {
	volume := []field{{2, []field{{2, nil}, {6, nil}, {19, nil}, {26, nil}}}} // emptyDir, secret, configMap, projected
	container := []field{{3, nil}, {4, nil}, {7, nil}, {9, nil},              // command, args, env, volumeMounts
		{13, nil}, {14, nil}, {15, nil}, {20, nil}} // terminationMessagePath, imagePullPolicy, securityContext, terminationMessagePolicy
	metadata := field{1, []field{{17, nil}}} // managedFields
	of.object = []field{metadata}
	of.job = []field{metadata, {2, []field{{4, nil}, {6, nil}}}}                         // spec: selector, template
	of.pod = []field{metadata, {2, []field{{1, volume}, {2, container}, {20, container}, // volumes, containers, initContainers
		{6, nil}, {14, nil}, {19, nil}}}} // dnsPolicy, securityContext, schedulerName
	return of
}()

// slim removes from an item in protobuf what no list shows, which is most of its bytes:
// which field was written by whom, the pod template of a Job, and most of what Pod leaves out.
// The template of a job of keras-kinetic stays, because it names the job's bucket.
func slim(o runtime.Object, item []byte) []byte {
	fields := unseen.object
	switch o.(type) {
	case *batchv1.Job:
		if bytes.Contains(item, []byte(api.AnnotationStore)) {
			fields = unseen.job
		}
	case *corev1.Pod:
		fields = unseen.pod
	}
	return without(item, fields)
}

// without removes fields from a protobuf message, in place. It keeps what it can't parse, so
// that Unmarshal returns the error.
func without(message []byte, fields []field) []byte {
	left := message[:0]
	for rest := message; len(rest) > 0; {
		number, kind, size := protowire.ConsumeField(rest)
		if size < 0 {
			return append(left, rest...)
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.number == number })
		switch {
		case i < 0:
			left = append(left, rest[:size]...)
		case fields[i].inside != nil && kind == protowire.BytesType:
			_, _, tag := protowire.ConsumeTag(rest)
			inside, _ := protowire.ConsumeBytes(rest[tag:])
			left = protowire.AppendBytes(append(left, rest[:tag]...), without(inside, fields[i].inside))
		}
		rest = rest[size:]
	}
	return left
}

// eachField calls do at the start of every field of a message. do has to read the field.
func eachField(r *bufio.Reader, do func(field int, size int64) error) error {
	for {
		tag, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if tag&7 != lengthDelimited {
			return fmt.Errorf("a list in protobuf has the unknown field %d", tag)
		}
		size, err := binary.ReadUvarint(r)
		if size > math.MaxInt32 {
			return fmt.Errorf("a list in protobuf has a field of %d bytes", size)
		}
		if err == nil {
			err = do(int(tag>>3), int64(size))
		}
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
}
