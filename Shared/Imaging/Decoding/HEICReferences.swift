internal import ImageProbe

/// The references between the items of a HEIC file (ISO/IEC 14496-12, 8.11.12).
enum HEICReferences {
    /// The types of references by which auxiliary pictures (such as gain maps), descriptions (such as EXIF data) and thumbnails belong to
    /// an item.
    private static let kinds = ["auxl", "cdsc", "thmb"].map { Array($0.utf8) }
    private static let skipped = Array("skip".utf8)

    /// Renames references from one item to several others, so that the decoder passes over them. No byte moves.
    ///
    /// iPhones since iOS 18 let a gain map and EXIF data belong to two pictures. libheif before 1.18 refuses such a file, although the
    /// picture can be shown without either (libheif issue 1190).
    static func hideAmbiguous(in file: inout [UInt8]) {
        for index in boxes(of: file, in: 0..<file.count) where file.matches("meta", at: index.start + 4) {
            for list in boxes(of: file, in: index.content.dropFirst(4))
            where file.matches("iref", at: list.start + 4) && list.content.count > 4 {
                let idBytes = file[list.content.lowerBound] == 0 ? 2 : 4
                for reference in boxes(of: file, in: list.content.dropFirst(4)) {
                    let count = reference.content.dropFirst(idBytes).prefix(2)
                    guard count.count == 2, !file[count].elementsEqual([0, 1]) else { continue }
                    let type = reference.start + 4..<reference.start + 8
                    if kinds.contains(Array(file[type])) { file.replaceSubrange(type, with: skipped) }
                }
            }
        }
    }

    private struct Box {
        let start: Int
        /// The bytes after the header.
        let content: Range<Int>
    }

    /// Returns the boxes of a part of the file, up to the first one that does not fit into it.
    private static func boxes(of file: [UInt8], in range: Range<Int>) -> [Box] {
        var (found, offset) = ([Box](), range.lowerBound)
        while range.upperBound - offset >= 8 {
            let short = file.bigEndian(at: offset, count: 4)
            let (header, length) = short == 1 ? (16, longLength(of: file, at: offset, before: range.upperBound)) : (8, short)
            guard length >= header, length <= range.upperBound - offset else { break }
            found.append(Box(start: offset, content: (offset + header)..<(offset + length)))
            offset += length
        }
        return found
    }

    /// Returns the length of a box with eight bytes for it; 0 when it has no room for them, or is longer than any file.
    private static func longLength(of file: [UInt8], at offset: Int, before end: Int) -> Int {
        guard end - offset >= 16, file[offset + 8] == 0 else { return 0 }
        return file.bigEndian(at: offset + 8, count: 8)
    }
}
