internal import Accounts
internal import Hummingbird

extension Request {
    /// The query `limit`: the most elements of a page.
    func pageLimit(usual: Int, upTo maximum: Int) throws(APIError) -> Int {
        guard let text = query("limit") else { return usual }
        guard let limit = Int(text), 1...maximum ~= limit else {
            throw APIError(.invalidRequest, "limit is a number from 1 to \(maximum)", field: "limit")
        }
        return limit
    }

    /// The query `cursor` of a list that has the newest first; the start of the list without it.
    func listCursor() throws(APIError) -> ListCursor {
        guard let text = query("cursor") else { return .start }
        guard let cursor = ListCursor(text) else {
            throw APIError(.invalidRequest, "cursor is the next_cursor of the page before", field: "cursor")
        }
        return cursor
    }
}

/// A page of a list that has the newest first.
struct ListPage<Element: Sendable>: Sendable {
    /// The items of the page.
    let elements: [Element]
    /// The position of the next page; nil on the last one.
    let next: ListCursor?

    /// Makes a page of one element more than it has, which shows whether there is another page.
    init(_ found: [Element], limit: Int, cursor: (Element) -> ListCursor) {
        elements = Array(found.prefix(limit))
        next = found.count > limit ? elements.last.map(cursor) : nil
    }

    private init(elements: [Element], next: ListCursor?) {
        (self.elements, self.next) = (elements, next)
    }

    /// Returns the page with other elements in place of its own.
    func map<Other>(_ transform: (Element) throws -> Other) rethrows -> ListPage<Other> {
        ListPage<Other>(elements: try elements.map(transform), next: next)
    }
}
