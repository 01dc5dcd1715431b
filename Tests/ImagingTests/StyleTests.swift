import ImageProbe
import Imaging
import Synchronization
import Testing

@Suite struct StyleTests {
    @Test(arguments: PictureStyle.allCases)
    func `a style gives the same picture every time`(style: PictureStyle) throws {
        let file = try Samples.portrait()
        let first = try Samples.pipeline.stylise(file, style: style, width: 400)
        #expect((first.width, first.height) == (400, 651))
        #expect(try Samples.pipeline.stylise(file, style: style, width: 400) == first)
    }

    @Test func `every style differs from the others and from the original`() throws {
        let file = try Samples.portrait()
        var results = try PictureStyle.allCases.map { try Samples.pixels(try Samples.pipeline.stylise(file, style: $0, width: 300)) }
        results.append(try Samples.pixels(try Samples.pipeline.finish(file, width: 300)))
        for (index, one) in results.enumerated() {
            for other in results[..<index] {
                let difference = zip(one.pixels, other.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } / one.pixels.count
                #expect(difference >= 4)
            }
        }
    }

    @Test(arguments: PictureStyle.allCases)
    func `a style preserves the contrast between light and dark`(style: PictureStyle) throws {
        let file = PNGFile.encode(width: 320, height: 240, bands: 3) { x, _, _ in x < 160 ? 30 : 225 }
        let image = try Samples.pixels(try Samples.pipeline.stylise(file, style: style))
        let (dark, light) = (image.colour(0.25, 0.5).reduce(0, +), image.colour(0.75, 0.5).reduce(0, +))
        #expect(light > dark + 150)
    }

    @Test(arguments: PictureStyle.allCases, [(1, 1), (40, 2), (2, 40), (16, 16)])
    func `a tiny picture can be stylised`(style: PictureStyle, size: (width: Int, height: Int)) throws {
        let file = PNGFile.encode(width: size.width, height: size.height, bands: 3) { x, y, band in UInt8((x + y) * 5 + band * 20) }
        let result = try Samples.pipeline.stylise(file, style: style)
        #expect((result.width, result.height) == (size.width, size.height))
    }

    @Test(arguments: PictureStyle.allCases)
    func `width, height and quality are honoured`(style: PictureStyle) throws {
        let file = try Samples.portrait()
        let cut = try Samples.pipeline.stylise(file, style: style, width: 320, height: 200, quality: .low)
        let fine = try Samples.pipeline.stylise(file, style: style, width: 320, height: 200, quality: .high)
        #expect((cut.width, cut.height, fine.width, fine.height) == (320, 200, 320, 200))
        #expect(fine.bytes.count > cut.bytes.count)
    }

    @Test(arguments: PictureStyle.allCases, [0, 1, 5, 25])
    func `cancelled work ends`(style: PictureStyle, questions: Int) throws {
        let file = try Samples.portrait()
        let asked = Mutex(0)
        let outcome = code {
            _ = try Samples.pipeline.stylise(
                file, style: style, quality: .low,
                isCancelled: {
                    asked.withLock { count in
                        count += 1
                        return count > questions
                    }
                })
        }
        #expect(outcome == .cancelled)
        // After the first positive answer, the work ends without another query.
        #expect(asked.withLock { $0 } == questions + 1)
    }
}
