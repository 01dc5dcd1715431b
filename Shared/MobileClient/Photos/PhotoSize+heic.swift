extension PhotoSize {
    /// The bytes of the longest index that is read; phones write some 4 KiB.
    private static let maxIndexBytes = 512 << 10
    private static let maxBoxes = 64

    /// The size of the largest picture of a file: tiles, thumbnails and gain maps are smaller (ISO/IEC 23008-12, 6.5.3).
    static func heic(_ photo: PhotoReader) -> PhotoSize? {
        var offset = 0
        for _ in 0..<maxBoxes {
            guard let head = photo.bytes(8, at: offset) else { return nil }
            let length = head[0..<4].bigEndian
            if head[4..<8].elementsEqual("meta".utf8) {
                guard 12...maxIndexBytes ~= length, let index = photo.bytes(length - 12, at: offset + 12) else { return nil }
                return largest(in: index[...])
            }
            // Only the box of the pictures has a length of 64 bits, or up to the end of the file, and the index precedes it.
            guard length >= 8 else { return nil }
            offset += length
        }
        return nil
    }

    private static func largest(in index: ArraySlice<UInt8>) -> PhotoSize? {
        let properties = boxes("iprp", in: index).flatMap { boxes("ipco", in: $0) }
        let sizes = properties.flatMap { boxes("ispe", in: $0) }.compactMap { extent -> PhotoSize? in
            // Behind four bytes of version and flags.
            let sides = extent.dropFirst(4)
            guard sides.count >= 8 else { return nil }
            return PhotoSize(width: sides.prefix(4).bigEndian, height: sides.dropFirst(4).prefix(4).bigEndian)
        }
        return sizes.max { $0.pixels < $1.pixels }
    }

    /// The contents of the boxes of a type, as far as the boxes can be read.
    private static func boxes(_ type: String, in bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var (rest, found) = (bytes, [ArraySlice<UInt8>]())
        while rest.count >= 8, 8...rest.count ~= rest.prefix(4).bigEndian {
            let box = rest.prefix(rest.prefix(4).bigEndian)
            if box.dropFirst(4).prefix(4).elementsEqual(type.utf8) { found.append(box.dropFirst(8)) }
            rest = rest.dropFirst(box.count)
        }
        return found
    }
}
