/// A JPEG file whose segments can be read and inserted.
struct JPEGFile {
    var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The markers of all segments up to the first scan, and their contents.
    var segments: [(marker: UInt8, content: ArraySlice<UInt8>)] {
        var found: [(UInt8, ArraySlice<UInt8>)] = []
        var offset = 2
        while offset + 4 <= bytes.count, bytes[offset] == 0xFF {
            let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
            found.append((bytes[offset + 1], bytes[(offset + 4)..<(offset + 2 + length)]))
            if bytes[offset + 1] == 0xDA { break }
            offset += 2 + length
        }
        return found
    }

    /// Returns the file with one more segment after its start.
    func with(_ marker: UInt8, _ content: [UInt8]) -> JPEGFile {
        let length = content.count + 2
        return JPEGFile(Array(bytes[..<2]) + [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + content + Array(bytes[2...]))
    }

    /// Returns the file with EXIF metadata that contain only an orientation.
    func with(orientation: UInt8) -> JPEGFile {
        with(0xE1, Array("Exif\0\0MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0".utf8) + [orientation, 0, 0, 0, 0, 0, 0])
    }

    func with(profile: [UInt8]) -> JPEGFile { with(0xE2, Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + profile) }

    /// Returns the file with another size in its frame header.
    func claiming(width: Int, height: Int) -> JPEGFile {
        var file = self
        guard let frame = segments.first(where: { [0xC0, 0xC1, 0xC2].contains($0.marker) })?.content else { return self }
        let size = [height >> 8, height & 0xFF, width >> 8, width & 0xFF].map { UInt8($0) }
        file.bytes.replaceSubrange((frame.startIndex + 1)..<(frame.startIndex + 5), with: size)
        return file
    }

    /// Returns the file with metadata of every kind, each of which contains the word: EXIF with a place, XMP, IPTC and a comment.
    func withMetadata(saying word: String) -> JPEGFile {
        // One directory with a description and a pointer to the place, which is a directory of its own.
        let text = Array(word.utf8) + [0]
        let directory: [UInt8] =
            [0, 2] + [0x01, 0x0E, 0, 2] + PNGFile.bigEndian(text.count) + PNGFile.bigEndian(38)
            + [0x88, 0x25, 0, 4] + PNGFile.bigEndian(1) + PNGFile.bigEndian(38 + text.count) + [0, 0, 0, 0]
        let place: [UInt8] = [0, 1, 0, 1, 0, 2, 0, 0, 0, 2, 0x4E, 0, 0, 0, 0, 0, 0, 0]
        return with(0xFE, Array(word.utf8))
            .with(0xED, Array("Photoshop 3.0\08BIM\u{4}\u{4}\0\0\0\0\0".utf8) + [UInt8(word.utf8.count)] + Array(word.utf8))
            .with(0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'>\(word)</x:xmpmeta>".utf8))
            .with(0xE1, Array("Exif\0\0MM\0*\0\0\0\u{8}".utf8) + directory + text + place)
    }
}
