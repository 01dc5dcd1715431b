import ImageProbe
import Testing

@Suite struct HEICIndexTests {
    @Test(.timeLimit(.minutes(1)))
    func `extents without bytes cost nothing, however many an index claims to have`() throws {
        // Four billion extents in 360 kB.
        let items: [UInt8] = (0..<60_000).flatMap { number -> [UInt8] in TestImages.big(number, 2) + [0, 0, 0xFF, 0xFF] }
        let size = TestImages.box("ispe", [0, 0, 0, 0] + TestImages.big(64, 4) + TestImages.big(48, 4))
        let locations = TestImages.box("iloc", [0, 0, 0, 0, 0, 0] + TestImages.big(60_000, 2) + items)
        let index = TestImages.box("meta", [0, 0, 0, 0] + TestImages.box("iprp", TestImages.box("ipco", size)) + locations)
        let file = TestImages.box("ftyp", Array("heic".utf8) + [0, 0, 0, 0] + Array("heic".utf8)) + index + TestImages.box("mdat", [0])
        var probe = ImageProbe()
        try probe.feed(file.span.bytes)
        let info = try probe.finish()
        #expect((info.width, info.height) == (64, 48))
    }
}
