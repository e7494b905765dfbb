//! Whole workbooks.

use super::extract;
use crate::document::{Document, ExtractError};
use crate::office::zip::Zip;
use pretty_assertions::assert_eq;

const RELATIONS: &str = "<Relationships>\
    <Relationship Id='r1' Type='x/worksheet' Target='worksheets/one.xml'/>\
    <Relationship Id='r2' Type='x/worksheet' Target='/xl/worksheets/two.xml'/>\
    <Relationship Id='r3' Type='x/chartsheet' Target='chartsheets/c.xml'/>\
    </Relationships>";

const STYLES: &str =
    "<styleSheet><cellXfs><xf numFmtId='0'/><xf numFmtId='14'/></cellXfs></styleSheet>";

fn book(one: &str) -> Vec<u8> {
    Zip::new()
        .part(
            "xl/workbook.xml",
            "<workbook xmlns:r='r'><sheets><sheet name='B &amp; b' sheetId='7' r:id='r1'/>\
             <sheet name='gone' state='hidden' r:id='r2'/><sheet name='c' r:id='r3'/>\
             <sheet name='gone' state='veryHidden' r:id='r2'/><sheet name='A' r:id='r2'/>\
             </sheets></workbook>",
        )
        .part("xl/_rels/workbook.xml.rels", RELATIONS)
        .part("xl/sharedStrings.xml", "<sst><si><t>shared</t></si><si><t>a\nb\tc</t></si></sst>")
        .part("xl/styles.xml", STYLES)
        .part(
            "xl/worksheets/one.xml",
            &format!("<worksheet><sheetData>{one}</sheetData></worksheet>"),
        )
        .part("xl/worksheets/two.xml", "<worksheet><sheetData/></worksheet>")
        .finish()
}

fn read(one: &str) -> Document {
    extract(&book(one)).unwrap()
}

fn check(one: &str, expected: &str) {
    let expected = format!("# ── Sheet: B & b ──\n{expected}\n\n# ── Sheet: A ──\n(empty)");
    assert_eq!(read(one).text, expected);
}

#[test]
fn cells_show_what_they_hold() {
    check(
        "<row><c t='s'><v>0</v></c><c t='s'><v>1</v></c><c t='s'><v>9</v></c>\
         <c t='inlineStr'><is><t>in</t><r><t>line</t></r></is></c><c t='b'><v>1</v></c>\
         <c t='b'><v>0</v></c><c t='e'><v>#DIV/0!</v></c><c><v>1.50</v></c>\
         <c s='1'><v>45306</v></c><c t='str'><f>A1</f><v>text</v></c><c><f>SUM(A1)</f></c>\
         <c t='d'><v>2024-01-15</v></c><c s='1'/><c s='99'><v>3</v></c></row>",
        "shared\ta b c\t\tinline\tTRUE\tFALSE\t#DIV/0!\t1.50\t2024-01-15\ttext\t=SUM(A1)\t2024-01-15\t\t3",
    );
}

#[test]
fn cells_are_placed_by_reference() {
    check(
        "<row r='2'><c r='C2'><v>1</v></c><c><v>2</v></c><c r='A2'><v>3</v></c></row>\
         <row r='3'><c r='B3'/></row><row r='4'/><row r='5'><c r='A5'><v>4</v></c></row>\
         <row><c><v>5</v></c></row><row r='9'><c r='A9' s='1'/></row>",
        "\n3\t\t1\t2\n\n\n4\n5",
    );
    check("", "(empty)");
    check("<row r='3'><c t='s'/></row>", "(empty)");
}

#[test]
fn rows_and_columns_are_limited() {
    let rows: String =
        (1..=5001).map(|n| format!("<row r='{n}'><c><v>{n}</v></c></row>")).collect();
    let document = read(&rows);
    assert_eq!(document.text.lines().count(), 5000 + 4);
    assert_eq!(document.omitted, ["the rows after 5000 of sheet \"B & b\""]);
    let document = read("<row r='1'><c r='IV1'><v>1</v></c><c><v>2</v></c></row>");
    assert_eq!(document.text.lines().nth(1).unwrap().matches('\t').count(), 255);
    assert_eq!(document.omitted, ["the columns after 256 of sheet \"B & b\""]);
}

#[test]
fn a_shared_text_in_many_cells_has_an_end() {
    let long = "x".repeat(100_000);
    let cells: String = (0..20).map(|_| "<c t='s'><v>0</v></c>").collect();
    let rows: String = (0..40).map(|_| format!("<row>{cells}</row>")).collect();
    let archive = Zip::new()
        .part("xl/workbook.xml", "<workbook><sheets><sheet name='s'/></sheets></workbook>")
        .stored("xl/sharedStrings.xml", format!("<sst><si><t>{long}</t></si></sst>").as_bytes())
        .part(
            "xl/worksheets/sheet1.xml",
            &format!("<worksheet><sheetData>{rows}</sheetData></worksheet>"),
        )
        .finish();
    let document = extract(&archive).unwrap();
    assert!(document.text.len() <= 16 * 1024 * 1024);
    assert_eq!(document.omitted.len(), 1);
}

#[test]
fn what_is_no_workbook() {
    for archive in [
        Zip::new().part("xl/workbook.xml", "<workbook><sheets/></workbook>").finish(),
        Zip::new().part("xl/workbook.xml", "<workbook>").finish(),
        Zip::new().part("word/document.xml", "<a/>").finish(),
        Zip::new()
            .part("xl/workbook.xml", "<workbook><sheets><sheet name='s'/></sheets></workbook>")
            .finish(),
    ] {
        assert!(extract(&archive).is_err());
    }
    assert!(matches!(extract(b"not a zip"), Err(ExtractError::Malformed(_))));
}
